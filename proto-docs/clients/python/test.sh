#!/bin/sh
# Tests the Python client against a real stack. From the root of the repository, with the development tools in PATH:
#   export PATH="$PWD/target/tools/client-python/bin:$PATH"
#   target/debug/local-stack with-servers -- target/debug/with-business -- sh proto-docs/clients/python/test.sh
# The names of modules or tests, such as tests.test_sync, run only those.
set -eu
cd "$(dirname "$0")"
export PYTHONPATH=src

if [ $# -gt 0 ]; then
    exec python3 -W error -m unittest "$@"
fi

# Side by side, because most tests wait: for a lease, a retry or a timeout.
logs=$(mktemp -d)
running=
trap 'rm -rf "$logs"' EXIT
trap 'kill $running; exit 1' INT TERM
for file in tests/test_*.py; do
    module=$(basename "$file" .py)
    python3 -W error -m unittest "tests.$module" >"$logs/$module" 2>&1 &
    running="$running $!"
done
failed=0
for process in $running; do
    wait "$process" || failed=1
done
for log in "$logs"/*; do
    echo "== $(basename "$log")"
    cat "$log"
done
exit $failed
