#!/bin/sh
# Makes a release of the present commit in target/release-<version>: `make release`. proto-docs/operators/releases.md tells what it is.
set -eu
python=$(realpath --no-symlinks "${1:?usage: $0 <Python with the tools of deploy>}")
key=${SIGNING_KEY:+$(realpath "$SIGNING_KEY")}
cd "$(dirname "$0")/../.."
fail() { echo "error: $*" >&2; exit 1; }

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
[ -z "$(git status --porcelain)" ] ||
    fail "a release is a commit, and the working tree differs from it; commit or stash the changes, then try again"
clients=proto-docs/clients
for file in deploy/chart/Chart.yaml $clients/medusa/package.json $clients/python/src/waybill/_version.py $clients/typescript/package.json; do
    named=$(sed -n 's/.*[vV]ersion[_"]* *[:=] *"\{0,1\}\([0-9][^", ]*\).*/\1/p' "$file" | sort -u | xargs)
    [ "$named" = "$version" ] || fail "Cargo.toml has version $version, $file has $named; set it everywhere"
done
changes=$(awk -v title="## Release $version" '/^## / { on = $0 == title } on' proto-docs/operators/changelog.md)
[ -n "$changes" ] || fail "changelog.md has no section \"Release $version\"; write it"
! grep -q '^## Unreleased' proto-docs/operators/changelog.md ||
    fail "changelog.md has unreleased changes; make their section that of the version"

folder=$PWD/target/release-$version
rm -rf "$folder"
mkdir -p "$folder/images"
# The packages name the commit that they were packed from.
rm -f target/sdk/.all-packed
# Docker's archives differ from build to build.
ARCHIVES=$folder/images ENGINE=${ENGINE:-podman buildah} ${MAKE:-make} images sbom kustomization SBOM="$folder/sbom" KUSTOMIZATION="$folder/kustomization" \
    NAMESPACE=waybill VALUES=deploy/chart/examples/production.yaml
cp -r target/sdk "$folder/clients"
rm "$folder/clients/.all-packed"
# Files of an archive have the time of the commit.
git archive --format=tar.gz --prefix="waybill-$version/" --output "$folder/waybill-$version-source.tar.gz" HEAD
tar --extract --file "$folder/waybill-$version-source.tar.gz" --directory "$folder" "waybill-$version/deploy"
"$python" -c 'import sys, helm_python; helm_python.package(sys.argv[1], destination=sys.argv[2])' \
    "$folder/waybill-$version/deploy/chart" "$folder"
rm -r "${folder:?}/waybill-$version"
printf '%s\n' "$changes" >"$folder/changelog.md"

cd "$folder"
sums=$(find . -type f | sort | xargs sha256sum)
echo "$sums" >SHA256SUMS
if [ -n "$key" ]; then
    ssh-keygen -Y sign -q -f "$key" -n waybill-release SHA256SUMS
else
    echo "not signed: SIGNING_KEY names no key"
fi
echo "$folder: $(du --summarize --human-readable . | cut -f1)"
