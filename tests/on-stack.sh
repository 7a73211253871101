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

one() {
    case $1 in
    pages)
        run pages env PLAYWRIGHT_JUNIT_OUTPUT_FILE="$results/pages.xml" \
            npm --silent --prefix services/portal-web test -- --reporter=list,junit
        ;;
    shops) run shops sh tests/shops/test.sh "$results/shops.xml" ;;
    *) run "$1" sh "proto-docs/clients/$1/test.sh" "$results/$1.xml" ;;
    esac
}

# Browsers keep two cores busy. The rest waits much of its time, so it runs side by side.
for part in "$@"; do
    case $part in
    pages) one pages ;;
    *) one "$part" & ;;
    esac
done
wait
