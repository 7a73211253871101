#!/usr/bin/env bash
# `make test-images`: makes the images with podman, and runs each without a network and capabilities, on a read-only root:
# run.sh <folder with the programs>
# shellcheck disable=SC2329 # `check` calls the functions
set -euo pipefail
programs=$(realpath "$1")
cd "$(dirname "$0")/../.."
export ENGINE=podman REGISTRY=localhost/waybill-test VERSION=test
sh deploy/images/build.sh "$programs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

check() { # sentence, command…
  if "${@:2}" >"$work/output" 2>&1; then
    echo "ok      $service $1"
  else
    echo "FAILED  $service $1" && tail -3 "$work/output" && failures=$((failures + 1))
  fi
}

not() { ! "$@"; }

run() {
  # With these limits it works inside of a container too.
  podman run --rm --no-healthcheck --runtime runc --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \
    --network none --read-only --read-only-tmpfs=false --cap-drop all --security-opt no-new-privileges "$image" "$@"
}

names_what_is_missing() { not run >"$work/missing" 2>&1 && grep 'WAYBILL_DATABASE__URL: is missing' "$work/missing"; }
prints_openapi() { run openapi | grep '"openapi": "3'; }
has() { grep -E -- "$1" "$work/files"; }

for service in key-management order-api portal-api wallet webhook-dispatcher; do
  image=$REGISTRY/$service:$VERSION
  container=$(podman create --no-healthcheck "$image")
  podman export "$container" | tar --list --verbose >"$work/files"
  podman rm "$container" >/dev/null

  check "starts, and names the settings that it misses" names_what_is_missing
  check "has no shell" not has '^-.*[/ ][a-z]*sh$'
  check "has files that its user can read" not has '^-......-'
  check "has root certificates" has ' etc/ssl/certs/ca-certificates.crt$'
  check "names the system's packages" has ' var/lib/dpkg/status.d/libc6$'
  check "runs as a user without rights" test "$(podman inspect --format '{{.Config.User}}' "$image")" = 65532:65532
  check "has a health check" test "$(podman inspect --format '{{.HealthCheck.Test}}' "$image")" = "[CMD /usr/bin/$service health]"
  case $service in
  order-api)
    check "does its work" prints_openapi
    check "has the packages for integrators" has ' usr/share/waybill/downloads/.*\.whl$'
    check "has the documentation" has ' usr/share/waybill/docs/index.html$'
    ;;
  portal-api) check "has the pages" has ' usr/share/waybill/pages/index.html$' ;;
  esac
done
exit $((failures > 0))
