#!/usr/bin/env bash
# build.sh: builds bin/gatehouse.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh go
# The toolchain's own stamp may be off (-buildvcs=false), or git not here.
go build -ldflags "-X main.described=$(git describe --always --dirty 2>/dev/null || true)" -o bin/gatehouse ./cmd/gatehouse
