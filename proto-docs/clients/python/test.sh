#!/bin/sh
# Tests the Python client against a real stack: test.sh [<JUnit file> [<option of pytest>…]]. `make test` calls it with the
# stack's addresses and keys in the environment, and with the development tools in PATH.
set -eu
cd "$(dirname "$0")"
junit=${1:-/dev/null}
[ $# -eq 0 ] || shift
# Side by side, because most tests wait: for a lease, a retry or a timeout. Each goes to the next free worker.
PYTHONPATH=src exec python3 -m pytest --quiet -W error --numprocesses 4 --dist loadgroup -p no:cacheprovider \
    --junit-xml="$junit" "$@"
