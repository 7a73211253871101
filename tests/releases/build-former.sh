#!/bin/sh
# Builds the five services' programs of the latest recorded release, for tests/rolling_upgrade: target/former/<commit>/wallet and
# so on. Compiled third-party crates are shared with the target folder if cargo supports `build-dir` (1.91); an older cargo
# compiles them again. Fails with an error when the release cannot be built.
set -eu
# A wrapper that does nothing: Clippy need not check a previous release, and without a wrapper cargo would take crates of
# the present release for those of the former one.
export RUSTC_WORKSPACE_WRAPPER=env

here=$(dirname "$0")
programs="key-management wallet portal-api order-api webhook-dispatcher"
target=$(realpath -m "${CARGO_TARGET_DIR:-$here/../../target}")
release=$(find "$here" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' -printf '%f\n' | sort -n | tail -1)
if [ -z "$release" ]; then
    echo "error: no release is recorded; see tests/releases/README.md" >&2
    exit 1
fi
commit=$(cat "$here/$release/commit")
folder=$target/former/$commit

missing=
selected=
for program in $programs; do
    [ -x "$folder/$program" ] || missing=yes
    selected="$selected --bin $program"
done
if [ -z "$missing" ]; then
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

echo "Building the services of release $release ($commit)."
rm -rf "$folder"
mkdir -p "$folder/source"
git -C "$here/../.." archive "$commit" | tar --extract --directory "$folder/source"
# Selects all packages, so that third-party crates have the features of the whole workspace, and builds five programs. They
# are kept next to the source, so that they do not replace the current programs.
# shellcheck disable=SC2086 # a list of options
CARGO_BUILD_BUILD_DIR=$target CARGO_TARGET_DIR=$folder/target \
    nice -n 10 cargo build --quiet --locked --manifest-path "$folder/source/Cargo.toml" --workspace $selected
for program in $programs; do
    mv "$folder/target/debug/$program" "$folder/$program"
done
rm -rf "$folder/source" "$folder/target"
