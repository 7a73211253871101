#!/bin/sh
# Runs Schemathesis with the service's OpenAPI document: as a business with its Test key, with its Live key, and as the fleet.
# `with-business` passes addresses and keys as environment variables.
set -eu
cd "$(dirname "$0")"

# Hypothesis keeps its files next to the tools.
HYPOTHESIS_STORAGE_DIRECTORY=$(dirname "$SCHEMATHESIS")/../hypothesis
export HYPOTHESIS_STORAGE_DIRECTORY

failed=0
# The other runs continue after a finding.
run() {
    echo
    echo "== $1"
    shift
    "$SCHEMATHESIS" run "$ORDER_API/v1/openapi.json" --url "$ORDER_API" "$@" || failed=1
}

API_KEY=$TEST_KEY KNOWN_ORDERS=$TEST_ORDERS
export API_KEY KNOWN_ORDERS
run "Orders and tracking, with the Test key" --exclude-tag Fleet

# Everything except simulations, which need the Test key.
API_KEY=$LIVE_KEY KNOWN_ORDERS=$LIVE_ORDERS
run "Orders and tracking, with the Live key" --exclude-tag Fleet --exclude-operation-id simulateOrder --max-examples 40

run "The fleet" --include-tag Fleet

exit $failed
