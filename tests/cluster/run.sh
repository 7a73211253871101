#!/usr/bin/env bash
# `make test-cluster`: a cluster of three nodes on this machine, and run.py on it: run.sh <folder with the services' programs>. As root, on
# Debian 12 with Go. The cluster's programs are compiled once, which takes 20 minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) programs=$(cd "$1" && pwd)
work=${CLUSTER_FOLDER:-$here/../../target/cluster}
mkdir -p "$work" && work=$(cd "$work" && pwd)
packages="buildah conntrack containerd containernetworking-plugins ethtool iproute2 ipset iptables mmdebstrap nftables openssl prometheus runc socat"
for package in $packages; do
  dpkg-query --show "$package" >/dev/null 2>&1 || missing="${missing:-} $package"
done
# shellcheck disable=SC2086 # one argument per package
[ -z "${missing:-}" ] || apt-get install --yes --no-install-recommends $missing

operators=$(case " ${*:2} " in *" operators "*) echo operators ;; esac)
"$here/programs.sh" "$work/programs" "$operators"
"$here/images.sh" "$programs" "$work/servers"
"$here/down.sh" "$work/state"
trap '"$here/down.sh" "$work/state"' EXIT
"$here/up.sh" "$work/programs" "$work/state"
for node in 1 2 3; do "$here/node.sh" "$work/programs" "$work/state" "$node"; done
"$here/addons.sh" "$work/programs" "$work/state"
for service in key-management order-api portal-api wallet webhook-dispatcher; do
  "$here/load.sh" "$work/state" "docker.io/waybill/$service:test"
  # The next release, as far as Kubernetes is concerned.
  for node in "$work"/state/node-*; do
    ctr -a "$node/containerd.sock" -n k8s.io images tag "docker.io/waybill/$service:test" "docker.io/waybill/$service:test-2" >/dev/null
  done
done
for server in postgres:15 rabbitmq:3.10; do "$here/load.sh" "$work/state" "docker.io/waybill/$server" node-1; done
case " ${*:2} " in *" trial "*) for server in postgres rabbitmq; do "$here/load.sh" "$work/state" "localhost/$server"; done ;; esac
[ -z "$operators" ] || "$here/operators.sh" "$work/programs" "$work/state"
python3 "$here/run.py" "$work/programs" "$work/state" "${@:2}"
