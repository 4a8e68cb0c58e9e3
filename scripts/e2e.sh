#!/usr/bin/env bash
# e2e.sh: plays the demo in a real browser against a real server.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/setup.sh browser
scripts/web.sh
scripts/build.sh
CHROMIUM=$(find_chromium)
export CHROMIUM

dir=$(mktemp -d)
bin/gatehouse serve --dev --bots 3 \
	--set http.listen=127.0.0.1:0 --set admin.listen=127.0.0.1:0 --set enet.listen=127.0.0.1:0 \
	--set rtc.udp_listen=127.0.0.1:0 --set rtc.tcp_listen=127.0.0.1:0 >"$dir/addresses" 2>"$dir/log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

url=
for _ in $(seq 100); do
	url=$(sed -n 's/^ *Play  *\([^ ]*\).*/\1/p' "$dir/addresses")
	[ -z "$url" ] || break
	sleep 0.1
done
if [ -z "$url" ]; then
	say "the server did not start:"
	cat "$dir/log" >&2
	exit 1
fi

failed=0
(cd web && GATEHOUSE_URL=$url timeout 5m npm run --silent e2e) || failed=$?
kill -TERM "$server"
wait "$server" || { failed=$?; say "the server ended with $failed"; }
[ "$failed" -eq 0 ] || cat "$dir/log" >&2
exit "$failed"
