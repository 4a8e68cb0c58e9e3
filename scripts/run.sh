#!/usr/bin/env bash
# run.sh [ARGUMENT...]: builds what can be built here and serves for a developer.
# Arguments go to gatehouse serve.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/build.sh
if ! node_fits; then
	say "Node.js 20.19 or later is not here, so the pages are left out (or as old as web/dist is). https://nodejs.org"
elif ! scripts/web.sh; then
	say "The pages could not be built (see above): the server runs without them."
fi
exec bin/gatehouse serve --dev "$@"
