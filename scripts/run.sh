#!/usr/bin/env bash
# run.sh [ARGUMENT...]: builds what can be built here and serves for a developer.
# Arguments go to gatehouse serve.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/build.sh
if ! node_fits; then
	say "Node.js 20.19 or later is not here: the server runs without its pages. https://nodejs.org"
elif ! scripts/web.sh; then
	say "The pages could not be built (see above): the server runs without them."
fi
exec bin/gatehouse serve --dev "$@"
