#!/usr/bin/env bash
# web.sh: builds the pages into web/dist, unless they are newer than all that they
# are made of.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

built=web/dist/.built # the last to be written
sources=(web/demo web/sdk web/package-lock.json web/package.json web/*.ts web/*.json)
if [ -e "$built" ] && [ -z "$(find "${sources[@]}" -newer "$built" -print -quit)" ]; then
	exit 0
fi
scripts/setup.sh web
(cd web && npm run --silent build) >&2
touch "$built"
