#!/bin/sh
# Tests the TypeScript client against a real stack: test.sh [<JUnit file>]. `make test` calls it with the stack's addresses
# and keys in the environment.
set -eu
cd "$(dirname "$0")"
npm --silent run build
# `npm run check` checks the types.
node_modules/.bin/tsc -b tsconfig.json --noCheck
# The tests' folders go with this one.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
node --test --test-concurrency=4 --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=junit --test-reporter-destination="${1:-/dev/null}" dist/test/*.test.js
