#!/usr/bin/env bash
# soak.sh [MINUTES]: bots of every transport come, play and go for that long (10)
# against one server; then nothing of them may be left.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-10}
scripts/setup.sh go
exec go test ./cmd/gatehouse -run '^TestSoak$' -v -count=1 -timeout=$((minutes + 5))m -soak="${minutes}m"
