#!/bin/sh
# Runs tests on the stack in the environment: on-stack.sh <folder of results> <part>…. `with-business` calls it.
set -u
results=$1
shift

run() {
    part=$1
    shift
    {
        "$@"
        echo $? >"$results/$part.status"
    } 2>&1 | sed -u "s/^/$part: /"
}

for part in "$@"; do
    case $part in
    pages)
        run pages npm --silent --prefix services/portal-web test -- \
            --reporter=default --reporter=junit --outputFile.junit="$results/pages.xml"
        ;;
    shops) run shops sh tests/shops/test.sh "$results/shops.xml" ;;
    *) run "$part" sh "proto-docs/clients/$part/test.sh" "$results/$part.xml" ;;
    esac
done
