#!/bin/sh
# Tests the mapping, without Medusa: test.sh [<JUnit file>]. The tools are those of the TypeScript client, which is built first.
set -eu
cd "$(dirname "$0")"
npm --silent --prefix ../typescript run build
# `npm run check` checks the types.
../typescript/node_modules/.bin/tsc -b tsconfig.json --noCheck
exec node --test --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=junit --test-reporter-destination="${1:-/dev/null}" dist/test/test/order-body.test.mjs
