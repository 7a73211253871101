#!/bin/sh
# Runs the guides for integrators and the READMEs of the packages on a real stack: test.sh [<JUnit file> [<option of pytest>…]].
# `make test` calls it with the stack's addresses in the environment, and with the development tools in PATH.
set -eu
cd "$(dirname "$0")"
junit=${1:-/dev/null}
[ $# -eq 0 ] || shift
# Side by side, because most commands wait for the stack. Each worker begins with one of the three long tests, which come
# first.
exec python3 -m pytest --quiet --numprocesses 3 --dist loadgroup -p no:cacheprovider --junit-xml="$junit" "$@"
