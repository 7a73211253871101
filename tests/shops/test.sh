#!/bin/sh
# Runs the integrator suite with every shop: test.sh [<JUnit file> [<option of pytest>…]], without the tests that are marked
# as long. `make test` calls it with the stack's addresses and keys in the environment, and with the development tools in
# PATH.
set -eu
cd "$(dirname "$0")"
junit=${1:-/dev/null}
[ $# -eq 0 ] || shift
clients=$(realpath ../../proto-docs/clients)
modules=$clients/typescript/node_modules
# `make sdk` has packed the clients.
sdk=$(realpath ../../target/sdk)

# A folder with the packed clients, as an integrator has it, and with the shops.
SHOPS=$(mktemp -d)
export SHOPS
trap 'rm -r "$SHOPS"' EXIT
mkdir -p "$SHOPS/node_modules/@waybill/client"
tar -xzf "$sdk"/waybill-client-*.tgz -C "$SHOPS/node_modules/@waybill/client" --strip-components=1
ln -s "$modules/express" "$modules/pg" "$SHOPS/node_modules"
# `npm run check` checks the types.
examples=$clients/typescript/examples
"$modules/.bin/tsc" --noCheck --noResolve --module nodenext --target es2022 --rootDir "$examples" --outDir "$SHOPS" "$examples/shop.ts"
mv "$SHOPS/shop.js" "$SHOPS/shop.mjs"
python3 -m zipfile -e "$sdk"/waybill-*.whl "$SHOPS/python"
cp "$clients/python/examples/shop.py" "$SHOPS"
cp "$(realpath "${CARGO_TARGET_DIR:-../../target}")/debug/examples/shop" "$SHOPS"

# One worker for each shop and file.
python3 -m pytest --quiet -W error -m "not long" --numprocesses 6 -p no:cacheprovider \
    --junit-xml="$junit" "$@"
