#!/usr/bin/env bash
# Loads an image of buildah into every node, or into the named ones: load.sh <state folder> <image> [node-1]…
set -euo pipefail
state=$1 image=$2 && shift 2
[ $# -gt 0 ] || set -- node-1 node-2 node-3
file=$(mktemp --dry-run --suffix .tar)
buildah push -q "$image" "docker-archive:$file:$image"
for node in "$@"; do
  [ ! -e "$state/$node" ] || ctr -a "$state/$node/containerd.sock" -n k8s.io images import "$file" >/dev/null
done
rm "$file"
