#!/bin/sh
# Runs the Rust tests, the portal's browser tests, the tests of the clients for integrators and those of the shops, on one
# pair of servers. Continues after a failure and ends with one summary.
# `make test` calls it within `local-stack with-servers`: run.sh <programs> <nextest> [<package>|clients]
set -u
programs=$1 nextest=$2 package=${3:-}
target=$(realpath "${CARGO_TARGET_DIR:-target}")
results=$target/test-results
rm -rf "$results" "$target/nextest/default/junit.xml"
mkdir -p "$results"
begun=$(date +%s)
# A failed test prints its error without a backtrace.
export RUST_LIB_BACKTRACE=0

# The parts that use a running stack share one.
run_on_stack() {
    "$programs/with-business" -- sh tests/on-stack.sh "$results" "$@"
}

# A change in a package can break its dependants, and the stories, which run the programs.
run_rust() {
    set -- --workspace
    case $package in
    '') ;;
    clients) set -- "$@" --filterset "package(waybill-client) + binary(rust_client)" ;;
    *) set -- "$@" --filterset "rdeps($package) + package(waybill-tests)" ;;
    esac
    {
        "$nextest" nextest run "$@"
        echo $? >"$results/rust.status"
    } 2>&1 | tee "$results/rust.log"
    cp "$target/nextest/default/junit.xml" "$results/rust.xml"
}

clients="typescript python guides shops"
case $package in
portal-web) parts=pages ;;
clients | order-api) parts="rust $clients medusa" ;;
portal-api) parts="rust pages" ;;
'') parts="rust pages $clients medusa" ;;
*) parts=rust ;;
esac
# shellcheck disable=SC2086 # lists of names
{
    case $parts in rust*) run_rust ;; esac
    on_stack=$(echo $parts | sed 's/^rust *//')
    [ -z "$on_stack" ] || run_on_stack $on_stack
    exec python3 tests/report.py "$results" "$begun" $parts
}
