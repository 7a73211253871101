#!/bin/sh
# Writes an SBOM (CycloneDX) of each service's crates, and one of the packages of the pages and of the documentation: sbom.sh <folder>. `make sbom` calls it with its tools
# in PATH. The system's packages are recorded in the image (images/base-tree.sh), where scanners read them.
set -eu
mkdir -p "$1"
folder=$(realpath "$1")
cd "$(dirname "$0")/../.."
# The tool writes a file next to each manifest of the workspace.
trap "git clean --force --quiet -- '*.cdx.json'" EXIT
# Neither a random number nor the time of now is in it.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) cargo cyclonedx --quiet --format json --spec-version 1.5 --no-build-deps
for service in key-management order-api portal-api wallet webhook-dispatcher; do
    sed "s|path+file://$PWD/|path+file:///waybill/|g" "services/$service/$service.cdx.json" >"$folder/$service.cdx.json"
done
for pages in services/portal-web proto-docs/site; do
    cyclonedx-npm --package-lock-only --omit dev --omit optional --output-reproducible \
        --output-file "$folder/$(basename "$pages" | sed s/^site$/docs-site/).cdx.json" "$pages/package.json"
done
