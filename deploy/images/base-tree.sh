#!/bin/sh
# Lays out what an image holds beside its program: base-tree.sh <folder to make> <program>…
#
# The libraries that the programs link to, the root certificates, a user that is not root, and the records of the packages that all
# this came from, where scanners look for them. It takes what this machine has, which must be a Debian.
set -eu

tree=${1:?usage: $0 <folder to make> <program>…}
shift
[ ! -e "$tree" ] || { echo "error: $tree is there already" >&2; exit 1; }
mkdir -p "$tree/etc/ssl/certs" "$tree/usr/bin" "$tree/var/lib/dpkg/status.d"

# Programs name their loader and libraries; a file may be a link to another, which comes with it under the name asked for.
libraries=$(for program in "$@"; do ldd "$program"; done | sed -n 's/.*=> \(\/[^ ]*\) (.*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | sort -u)
[ -n "$libraries" ] || { echo "error: no program links to a library; is it one of this system's?" >&2; exit 1; }
if for program in "$@"; do ldd "$program"; done | grep 'not found'; then
    echo "error: libraries are missing" >&2
    exit 1
fi
for library in $libraries; do
    mkdir -p "$tree$(dirname "$library")"
    cp --dereference "$library" "$tree$library"
done

cp --dereference /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
cp --dereference /etc/os-release "$tree/etc/os-release"
echo 'waybill:x:65532:65532::/nonexistent:/nonexistent' >"$tree/etc/passwd"
echo 'waybill:x:65532:' >"$tree/etc/group"
# Names are looked up in the files that the platform mounts, then by DNS.
echo 'hosts: files dns' >"$tree/etc/nsswitch.conf"

# The packages, with their licences.
for file in $libraries /usr/sbin/update-ca-certificates; do
    # A library may be filed under its place before /lib became a link to /usr/lib.
    dpkg --search "$file" 2>/dev/null || dpkg --search "/usr$file" 2>/dev/null || dpkg --search "$(readlink -f "$file")"
done | sed 's/: .*//; s/:.*//' | sort -u | while read -r package; do
    dpkg-query --status "$package" >"$tree/var/lib/dpkg/status.d/$package"
    mkdir -p "$tree/usr/share/doc/$package"
    cp --dereference "/usr/share/doc/$package/copyright" "$tree/usr/share/doc/$package/copyright"
done
