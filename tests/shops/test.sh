#!/bin/sh
# Runs the integrator suite with every shop: test.sh [<JUnit file> [<option of pytest>…]], without the tests that are marked
# as long. `make test` calls it with the stack's addresses and keys in the environment, and with the development tools in
# PATH.
set -eu
cd "$(dirname "$0")"
junit=${1:-/dev/null}
[ $# -eq 0 ] || shift
clients=$(realpath ../../proto-docs/clients)

# A folder with the packed clients, as an integrator has it, and with the shops.
SHOPS=$(mktemp -d)
export SHOPS
trap 'rm -r "$SHOPS"' EXIT
npm --silent --prefix "$clients/typescript" pack --pack-destination "$SHOPS" "$clients/typescript" >/dev/null
npm --silent --prefix "$SHOPS" install --offline --no-audit --no-fund "$SHOPS"/*.tgz >&2
ln -s "$clients/typescript/node_modules/express" "$clients/typescript/node_modules/pg" "$SHOPS/node_modules"
"$clients/typescript/node_modules/.bin/tsc" -p "$clients/typescript/tsconfig.json"
cp "$clients/typescript/dist/examples/shop.js" "$SHOPS/shop.mjs"
python3 -m build --wheel --no-isolation --outdir "$SHOPS" "$clients/python" >/dev/null
python3 -m pip install --quiet --no-deps --no-index --target "$SHOPS/python" "$SHOPS"/*.whl
cp "$clients/python/examples/shop.py" "$SHOPS"
cp "$(realpath "${CARGO_TARGET_DIR:-../../target}")/debug/examples/shop" "$SHOPS"

# One worker for each shop and file.
python3 -m pytest --quiet -W error -m "not long" --numprocesses 6 --dist loadgroup -p no:cacheprovider \
    --junit-xml="$junit" "$@"
