#!/bin/sh
# Tests the clients for TypeScript and Python against one real stack, and ends with a line for each. The Python tools are
# in PATH. `make test-sdk` calls it within `local-stack with-servers` and `with-business`.
set -u
cd "$(dirname "$0")" || exit 1
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# run <name> <command…>: shows and keeps the output and the status.
run() {
    name=$1
    shift
    {
        "$@"
        echo $? >"$logs/$name.status"
    } 2>&1 | tee "$logs/$name"
}

# One after the other, because each keeps two cores busy.
run typescript npm --silent --prefix typescript test
run python sh python/test.sh

echo
echo "TypeScript: $(awk '/^ℹ pass/ { passed = $3 } /^ℹ (fail|cancelled)/ { failed += $3 } END { print passed + 0 " tests passed, " failed + 0 " failed" }' "$logs/typescript")"
echo "Python: $(awk '/^Ran / { ran += $2 } /^FAILED/ { failed += 1 } END { print ran + 0 " tests ran, " failed + 0 " modules with failures" }' "$logs/python")"
[ "$(cat "$logs/typescript.status")$(cat "$logs/python.status")" = 00 ]
