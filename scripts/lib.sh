# Functions that the other scripts share; sourced, not run.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }

have() { command -v "$1" >/dev/null 2>&1; }

# as_root runs a command as root if that needs no password.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif have sudo && sudo -n true 2>/dev/null; then
		sudo -n "$@"
	else
		return 1
	fi
}

# install PACKAGE...: installs Debian packages where that is permitted, else says
# exactly what to install, and fails.
install() {
	if have apt-get && as_root true; then
		say "installing $*"
		as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2 || true # an old list may do
		if as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >&2; then
			return 0
		fi
	fi
	say "Missing: $*"
	say "Please install it, on Debian and Ubuntu: sudo apt-get install $*"
	return 1
}

# node_fits: Node.js is here and new enough for the tools that build the pages.
node_fits() {
	have npm && have node && node -e '
		const [major, minor] = process.versions.node.split(".").map(Number);
		process.exit(major > 20 || major === 20 && minor >= 19 ? 0 : 1)'
}

# find_chromium prints the path of a browser for the tests.
find_chromium() {
	local name
	for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome-stable google-chrome; do
		# Ubuntu's package is a stub that asks for a snap, and there is no snap
		# in a container: what can not say its version does not count.
		if [ -n "$name" ] && have "$name" && "$name" --version >/dev/null 2>&1; then
			command -v "$name"
			return 0
		fi
	done
	return 1
}
