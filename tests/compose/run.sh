#!/usr/bin/env bash
# `make test-compose`: compose.yaml on a machine of its own, by run.py: run.sh <folder with the services' programs>. As root, on Debian 12.
# Namespaces keep its containers, images, networks and ports from those of this machine. OFFICIAL_IMAGES=1 pulls the servers' images.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd) programs=$(cd "$1" && pwd)
storage=$root/target/compose
if [ "${COMPOSE_TEST:-}" != inside ]; then
  for package in aardvark-dns buildah iproute2 iptables mmdebstrap netavark openssl podman runc; do
    dpkg-query --show "$package" >/dev/null 2>&1 || missing="${missing:-} $package"
  done
  # shellcheck disable=SC2086 # one argument per package
  [ -z "${missing:-}" ] || apt-get install --yes --no-install-recommends $missing
  mkdir -p "$storage"
  COMPOSE_TEST=inside exec unshare --mount --pid --fork --kill-child --mount-proc "$0" "$programs"
fi

mount --bind "$storage" /var/lib/containers
for folder in /run/containers /run/libpod /run/netns /run/runc /etc/containers/networks /dev/shm; do
  mkdir -p "$folder" && mount -t tmpfs none "$folder"
done
cp /etc/hosts /dev/shm/hosts && mount --bind /dev/shm/hosts /etc/hosts
# There is no systemd for health checks: bin/podman runs them.
export CONTAINERS_CONF=$here/containers.conf PATH=$here/bin:$PATH DISABLE_HC_SYSTEMD=true
# What the last run left; the servers' images stay.
podman pod rm --all --force >/dev/null && podman volume prune --force >/dev/null && podman image prune --force >/dev/null

"$root/tests/cluster/images.sh" "$programs" "${CLUSTER_FOLDER:-$root/target/cluster}/servers"
for service in key-management order-api portal-api wallet webhook-dispatcher; do
  # The next release, as far as Compose is concerned.
  podman tag "docker.io/waybill/$service:test" "docker.io/waybill/$service:test-2"
done
if [ -n "${OFFICIAL_IMAGES:-}" ]; then
  sed -n 's/^ *image: \([a-z]*:.*\)/\1/p' "$root"/deploy/compose*.yaml | sort -u | xargs -n 1 podman pull
else
  caddy=$(mktemp -d) && (cd "$caddy" && apt-get download -qq --option APT::Sandbox::User=root caddy && dpkg-deb --extract caddy_*.deb tree)
  container=$(buildah from --pull=never docker.io/waybill/postgres:15)
  buildah add -q "$container" "$caddy/tree/usr/bin/caddy" /usr/bin/caddy >/dev/null
  buildah config --user 0:0 --cmd '' --env XDG_DATA_HOME=/data --env XDG_CONFIG_HOME=/config \
    --entrypoint '["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]' "$container"
  buildah commit -q "$container" localhost/caddy >/dev/null && buildah rm "$container" >/dev/null
  rm -r "$caddy"
fi
exec timeout 1200 unshare --net python3 "$here/run.py"
