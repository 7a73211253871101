#!/bin/sh
# Records the current commit as the next release, in a new folder: sh tests/releases/record.sh. Commit that folder.
set -eu

cd "$(dirname "$0")/../.."
if [ -n "$(git status --porcelain)" ]; then
    echo "error: a release is a commit, and the working tree differs from it; commit or stash the changes, then try again" >&2
    exit 1
fi
latest=$(find tests/releases -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' -printf '%f\n' | sort -n | tail -1)
folder=tests/releases/$((${latest:-0} + 1))
# Creates the folder atomically.
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
chmod 755 "$new"
git rev-parse HEAD > "$new/commit"
git ls-tree -d -r --name-only HEAD | grep -E '^(crates/outbox|services/[^/]+)/migrations/.' > "$new/migrations"
cp proto-docs/asyncapi/events.json "$new/events.json"
cargo run --quiet --package waybill-tests --bin asyncapi samples > "$new/samples.json"
mv "$new" "$folder"
echo "Recorded $(cat "$folder/commit") in $folder. Commit the folder."
