#!/bin/sh
# Runs Schemathesis over the document that the service serves: as a business with its Test key, with its Live key, and as the
# fleet. What it needs to know, `with-business` puts into the environment.
set -eu
cd "$(dirname "$0")"

# What Hypothesis keeps for itself stays beside the tools.
HYPOTHESIS_STORAGE_DIRECTORY=$(dirname "$SCHEMATHESIS")/../hypothesis
export HYPOTHESIS_STORAGE_DIRECTORY

failed=0
# A run that finds something does not keep the others from looking.
run() {
    echo
    echo "== $1"
    shift
    "$SCHEMATHESIS" run "$ORDER_API/v1/openapi.json" --url "$ORDER_API" "$@" || failed=1
}

API_KEY=$TEST_KEY KNOWN_ORDERS=$TEST_ORDERS
export API_KEY KNOWN_ORDERS
run "Orders and tracking, with the Test key" --exclude-tag Fleet

# Everything but simulations, which are the Test key's.
API_KEY=$LIVE_KEY KNOWN_ORDERS=$LIVE_ORDERS
run "Orders and tracking, with the Live key" --exclude-tag Fleet --exclude-operation-id simulateOrder --max-examples 40

run "The fleet" --include-tag Fleet

exit $failed
