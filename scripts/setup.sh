#!/usr/bin/env bash
# setup.sh go|web|browser: sees to it that what is needed to build the server, to
# build the pages, or to run the browser test is here. Says what is missing where
# it can not.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

setup_go() {
	local missing=()
	if ! have go; then
		say "Go is missing. Please install Go 1.26 or later: https://go.dev/dl"
		return 1
	fi
	have cc || have gcc || missing+=(gcc libc6-dev)
	have pkg-config || missing+=(pkg-config)
	if ! have pkg-config || ! pkg-config --exists libenet; then
		missing+=(libenet-dev)
	fi
	[ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
}

setup_web() {
	if ! node_fits; then
		say "Node.js 20.19 or later, with npm, is missing: https://nodejs.org"
		return 1
	fi
	# The lock file is newer than what was installed from it, or nothing was.
	if [ ! -e web/node_modules/.package-lock.json ] || [ web/package-lock.json -nt web/node_modules/.package-lock.json ]; then
		(cd web && npm ci --no-audit --no-fund --loglevel=error) >&2
		touch web/node_modules/.package-lock.json
	fi
}

setup_browser() {
	setup_web
	find_chromium >/dev/null || install chromium
	if ! find_chromium >/dev/null; then
		say "Chromium is installed but does not start. Please install one that does and set CHROMIUM to its path."
		return 1
	fi
}

for what in "$@"; do
	case "$what" in
	go | web | browser) "setup_$what" ;;
	*)
		say "usage: $0 go|web|browser..."
		exit 2
		;;
	esac
done
