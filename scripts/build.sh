#!/usr/bin/env bash
# build.sh: builds bin/gatehouse.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh go
go build -o bin/gatehouse ./cmd/gatehouse
