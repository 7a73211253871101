#!/bin/sh
# Tries what the images hold where no engine builds them: the base tree from this machine's own packages, the programs from a
# folder (target/release by default), run in it as its user, on a read-only root and without a shell. It needs root.
#
#   deploy/images/check.sh [folder with the programs]
#
# What it cannot show is that the registry's base images are there and that the Containerfile builds.
set -eu
programs=$(realpath "${1:-target/release}")
script=$(realpath "$0")
cd "$(dirname "$script")/../.."
services="key-management order-api portal-api wallet webhook-dispatcher"

[ "$(id -u)" -eq 0 ] || { echo "not run: it takes root to change the root directory" >&2; exit 1; }
# A mount that nobody else sees, and that goes with this process.
if [ "${CHECK_UNSHARED-}" != yes ]; then
    CHECK_UNSHARED=yes exec unshare --mount sh "$script" "$programs"
fi

work=$(mktemp -d)
trap 'umount "$tree" 2>/dev/null || true; rm -rf "$work"' EXIT
tree=$work/tree
faults=0
said() {
    if [ "$1" = ok ]; then echo "ok      $2"; else echo "FAILED  $2"; faults=$((faults + 1)); fi
}

set --
for service in $services; do set -- "$@" "$programs/$service"; done
sh deploy/images/base-tree.sh "$tree" "$@"
cp "$@" "$tree/usr/bin/"
# mktemp's folder is for its owner alone; the user of the images looks in from outside of it only in this check.
chmod 755 "$work"
mount --bind "$tree" "$tree"
mount -o remount,bind,ro,nosuid,nodev "$tree"

# Another user keeps none of root's rights.
in_tree() {
    env -i "$(command -v chroot)" --userspec=65532:65532 --groups= "$tree" "$@" </dev/null
}

for service in $services; do
    if output=$(in_tree "/usr/bin/$service" serve 2>&1); then
        said bad "$service starts without settings"
    else
        case $output in
        *settings*) said ok "$service runs as 65532 and names the settings that it misses" ;;
        *) said bad "$service does not run: $output" ;;
        esac
    fi
done

case $(in_tree /usr/bin/order-api openapi) in
'{'*'"openapi"'*) said ok "order-api does its work (openapi)" ;;
*) said bad "order-api openapi" ;;
esac
if find "$tree" -name "*sh" -type f -perm /111 | grep -q .; then said bad "there is a shell"; else said ok "there is no shell"; fi
if touch "$tree/x" 2>/dev/null; then said bad "the root can be written to"; else said ok "the root is read-only"; fi
if find "$tree" -perm /6000 | grep -q .; then said bad "programs change their user"; else said ok "no program changes its user"; fi
if find "$tree" \( -type f -o -type d \) ! -perm -o=r | grep -q .; then said bad "files cannot be read"; else said ok "all files can be read"; fi
if grep -q 'BEGIN CERTIFICATE' "$tree/etc/ssl/certs/ca-certificates.crt"; then said ok "root certificates"; else said bad "root certificates"; fi
if [ -n "${DEPLOY_PYTHON-}" ]; then
    mkdir "$work/records"
    for service in $services; do
        mkdir "$work/records/$service"
        cp -r "$tree/var/lib/dpkg/status.d" "$tree/etc/os-release" "$work/records/$service/"
    done
    "$DEPLOY_PYTHON" deploy/tools/sbom.py "$work/sbom" "$work/records" >"$work/said" || cat "$work/said"
    for package in libc6 libgcc-s1 ca-certificates; do
        if grep -q "\"pkg:deb/[a-z]*/$package@" "$work/sbom/wallet.cdx.json"; then
            said ok "what it is made of names $package"
        else
            said bad "what it is made of does not name $package"
        fi
    done
fi
echo "packages: $(cd "$tree/var/lib/dpkg/status.d" && echo *)"
echo "size beside the programs: $(du --summarize --human-readable --exclude=usr/bin "$tree" | cut -f1)"
exit "$((faults > 0))"
