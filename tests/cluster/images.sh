#!/usr/bin/env bash
# The images of the test, by buildah and without a registry: images.sh <folder with the programs> <folder of server trees>. As root.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd) programs=$(cd "$1" && pwd)
mkdir -p "$2" && trees=$(cd "$2" && pwd)

ENGINE=buildah REGISTRY=docker.io/waybill VERSION=test sh "$root/deploy/images/build.sh" "$programs"

work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
# Debian's servers, made once, with the user of the usual images: their name, packages, version and programs.
server() {
  ! buildah inspect "docker.io/waybill/$1:$3" >/dev/null 2>&1 || return 0
  [ -e "$trees/$1.tar" ] || mmdebstrap --quiet --variant=minbase --include="$2" bookworm "$trees/$1.tar"
  mkdir -p "$work/$1/etc"
  tar --extract --to-stdout --file "$trees/$1.tar" ./etc/passwd | sed "s/^$1:x:[0-9]*:[0-9]*:/$1:x:999:999:/" >"$work/$1/etc/passwd"
  container=$(buildah from scratch)
  buildah add -q "$container" "$trees/$1.tar" / >/dev/null
  buildah add -q "$container" "$work/$1" / >/dev/null
  buildah config --user 999:999 --env LANG=C.UTF-8 --env PATH="$4:/usr/bin:/bin" "$container"
  buildah commit -q "$container" "docker.io/waybill/$1:$3" >/dev/null && buildah rm "$container" >/dev/null
}
server postgres postgresql-15,procps 15 /usr/lib/postgresql/15/bin
server rabbitmq rabbitmq-server,procps 3.10 /usr/lib/rabbitmq/bin
# What compose.yaml and the chart's trial set rely on of the official images: name, version, further options of `buildah config`.
official() {
  container=$(buildah from --pull=never "docker.io/waybill/$1:$2")
  buildah add -q "$container" "$root/tests/compose/$1.sh" /entrypoint >/dev/null
  buildah config --user 0:0 --entrypoint '["/entrypoint"]' --cmd '' "${@:3}" "$container"
  buildah commit -q "$container" "localhost/$1" >/dev/null && buildah rm "$container" >/dev/null
}
official postgres 15 --env PGDATA=/var/lib/postgresql/15/docker
official rabbitmq 3.10 --env HOME=/var/lib/rabbitmq --env RABBITMQ_LOGS=-
