#!/usr/bin/env bash
# e2e.sh: plays the demo in a real browser, alone and beside clients of every other
# kind.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/setup.sh browser
scripts/web.sh
scripts/build.sh
CHROMIUM=$(find_chromium)
export CHROMIUM

failed=0
(cd web && timeout 8m npm run --silent e2e) || failed=1
go test -tags browser -count=1 -timeout=5m -run Browser ./gateway/e2e || failed=1
exit "$failed"
