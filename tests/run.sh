#!/bin/sh
# Runs the Rust tests, the portal's browser tests, the tests of the clients for integrators and those of the shops, on one
# pair of servers. Continues after a failure and ends with one summary. Not concurrently, because each keeps two cores busy
# and the browser would only wait.
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

run_pages() {
    {
        "$programs/with-business" -- npm --silent --prefix services/portal-web test -- \
            --reporter=default --reporter=junit --outputFile.junit="$results/pages.xml"
        echo $? >"$results/pages.status"
    } 2>&1 | sed -u 's/^/pages: /'
}

run_clients() {
    for part in typescript python guides; do
        {
            "$programs/with-business" -- sh "proto-docs/clients/$part/test.sh" "$results/$part.xml"
            echo $? >"$results/$part.status"
        } 2>&1 | sed -u "s/^/$part: /"
    done
    {
        sh proto-docs/clients/medusa/test.sh "$results/medusa.xml"
        echo $? >"$results/medusa.status"
    } 2>&1 | sed -u 's/^/medusa: /'
}

run_shops() {
    {
        "$programs/with-business" -- sh tests/shops/test.sh "$results/shops.xml"
        echo $? >"$results/shops.status"
    } 2>&1 | sed -u 's/^/shops: /'
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

case $package in
portal-web)
    run_pages
    exec python3 tests/report.py "$results" "$begun" pages
    ;;
clients)
    run_rust
    run_clients
    run_shops
    exec python3 tests/report.py "$results" "$begun" rust typescript python medusa guides shops
    ;;
portal-api)
    run_rust
    run_pages
    exec python3 tests/report.py "$results" "$begun" rust pages
    ;;
order-api)
    run_rust
    run_clients
    run_shops
    exec python3 tests/report.py "$results" "$begun" rust typescript python medusa guides shops
    ;;
'')
    run_rust
    run_pages
    run_clients
    run_shops
    exec python3 tests/report.py "$results" "$begun" rust pages typescript python medusa guides shops
    ;;
*)
    run_rust
    exec python3 tests/report.py "$results" "$begun" rust
    ;;
esac
