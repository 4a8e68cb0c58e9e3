#!/usr/bin/env bash
# test.sh [PART...]: runs the tests, all parts if none is named: style, units,
# transports, whole, web, browser. Each part is run even if one before it failed; the
# seconds of each are printed, and one failure fails the whole.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

# What opens real sockets, and what tries a whole server in real time. The rest
# are units.
sockets='/(gateway|gateway/(ws|rtc|enet|admin)|client|cmd/gatehouse|signaling)$'
whole='/gateway/(e2e|faults)$'

packages() { go list ./... | grep -E "$@"; }

style() {
	local unformatted
	unformatted=$(gofmt -l $(git ls-files -co --exclude-standard '*.go'))
	if [ -n "$unformatted" ]; then
		say "not formatted by gofmt:" "$unformatted"
		return 1
	fi
	for script in scripts/*.sh .ci/run; do bash -n "$script" || return 1; done
	go vet ./... && go vet -tags noenet ./... && go vet -tags browser ./gateway/e2e
}

units() {
	packages -v "$sockets|$whole" | xargs go test -race -shuffle=on -timeout=6m && (cd bench && go vet ./... && go test -shuffle=on -timeout=2m ./...)
}

# One package at a time from here on: they measure time, and would take it from
# each other.
transports() { packages "$sockets" | xargs go test -race -shuffle=on -p=1 -timeout=4m; }

# Without the race detector, which slows everything tenfold, and clients too.
whole() { packages "$whole" | xargs go test -shuffle=on -p=1 -timeout=6m; }

web() {
	scripts/setup.sh web && (cd web && npm run --silent check && npm test --silent) && scripts/web.sh
}

browser() { scripts/e2e.sh; }

failed=()
report=()
part() {
	local start=$SECONDS verdict=passed
	say "=== $1"
	if ! "$1"; then
		verdict=FAILED
		failed+=("$1")
	fi
	report+=("$(printf '%-11s %-7s %4d s' "$1" "$verdict" $((SECONDS - start)))")
	say "=== ${report[-1]}"
}

scripts/setup.sh go || exit 1
[ $# -gt 0 ] || set -- style units transports whole web browser
for name in "$@"; do
	case "$name" in
	style | units | transports | whole | web | browser) part "$name" ;;
	*)
		say "there is no part $name: style, units, transports, whole, web, browser"
		exit 2
		;;
	esac
done

say ""
printf '%s\n' "${report[@]}" "all         $([ ${#failed[@]} -eq 0 ] && echo 'passed ' || echo 'FAILED ') $(printf '%4d' "$SECONDS") s" >&2
[ ${#failed[@]} -eq 0 ]
