#!/bin/sh
# Tests the packed provider in a real Medusa: real.sh <folder with Medusa in its node_modules> [<options of node --test>].
# `make test-medusa` calls it with a stack's addresses and keys in the environment.
set -eu
shop=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
tools=$(realpath ../typescript/node_modules)
rm -rf "$shop/packed" "$shop/provider" "$shop/readme" "$shop/src" "$shop/medusa.log" "$shop/node_modules/@waybill" dist
mkdir -p "$shop/packed" "$shop/node_modules/@waybill"
for package in client:../typescript medusa:.; do
    name=${package%%:*} folder=${package#*:}
    npm --silent --prefix "$folder" pack --pack-destination "$shop/packed" "$(realpath "$folder")" >/dev/null
    mkdir "$shop/node_modules/@waybill/$name"
    tar -xzf "$shop/packed/waybill-$name"-*.tgz --strip-components=1 -C "$shop/node_modules/@waybill/$name"
done
# The sources again, now with Medusa's own types.
cp -r src "$shop/provider"
strict="--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noImplicitOverride --skipLibCheck
    --target ES2022 --module NodeNext --types node --typeRoots $tools/@types"
# shellcheck disable=SC2086
(cd "$shop" && "$tools/.bin/tsc" $strict --noEmit provider/*.ts)
"$tools/.bin/tsc" -p tsconfig.json
export SHOP="$shop" TSC="$tools/.bin/tsc" TSC_OPTIONS="$strict"
exec node --test --test-reporter=spec "$@" dist/test/test/medusa.test.mjs
