#!/bin/sh
# Builds order-api as the latest recorded release had it, for tests/rolling_upgrade: target/former/<commit>/order-api. What is
# compiled of other people's crates is shared with the rest of the target folder where cargo knows `build-dir` (1.91); an
# older one compiles them once more. Ends with an error, and never silently, when the release cannot be built.
set -eu

here=$(dirname "$0")
target=$(realpath -m "${CARGO_TARGET_DIR:-$here/../../target}")
release=$(find "$here" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' -printf '%f\n' | sort -n | tail -1)
commit=$(cat "$here/$release/commit")
folder=$target/former/$commit

if [ -x "$folder/order-api" ]; then
    exit 0
fi
if ! git -C "$here" cat-file -e "$commit^{commit}" 2>/dev/null; then
    echo "Release $release ($commit) is not in this clone's history: fetching it."
    git -C "$here" fetch --quiet --depth 1 origin "$commit" || {
        echo "error: release $release ($commit) is neither in this clone's history nor can it be fetched;" \
            "try \`git fetch --unshallow\`" >&2
        exit 1
    }
fi

echo "Building order-api of release $release ($commit)."
rm -rf "$folder"
mkdir -p "$folder/source"
git -C "$here/../.." archive "$commit" | tar --extract --directory "$folder/source"
# All packages are selected, so that other people's crates have the features that they have in the whole workspace, and one is
# built. Its own programs go beside the source: nothing of this release is put over what was built of the current one.
CARGO_BUILD_BUILD_DIR=$target CARGO_TARGET_DIR=$folder/target \
    cargo build --quiet --locked --manifest-path "$folder/source/Cargo.toml" --workspace --bin order-api
mv "$folder/target/debug/order-api" "$folder/order-api"
rm -rf "$folder/source" "$folder/target"
