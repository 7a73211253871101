#!/bin/sh
# Builds the five images with the first engine that works: docker, podman, buildah (ENGINE=podman for that one alone). They are named
# $REGISTRY/<service>:$VERSION; $REGISTRY is `waybill`, $VERSION that of Cargo.toml, unless they are set. What each records of the system's
# packages is taken out to target/images/packages, for tools/sbom.py.
set -eu
cd "$(dirname "$0")/../.."

registry=${REGISTRY:-waybill}
version=${VERSION:-$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)}
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain 2>/dev/null)" ] || revision=$revision-changed
# When it was committed rather than when it was built, so that the same source gives the same labels.
created=$(git log -1 --format=%cI 2>/dev/null || echo 1970-01-01T00:00:00Z)

# A client without its engine is not one.
works() {
    case $1 in
    docker) docker version --format '{{.Server.Version}}' ;;
    podman) podman info ;;
    buildah) buildah info ;;
    esac >/dev/null 2>&1
}

engine=
for candidate in ${ENGINE:-docker podman buildah}; do
    if ! command -v "$candidate" >/dev/null; then
        echo "$candidate: not installed"
    elif ! works "$candidate"; then
        echo "$candidate: installed, but it does not work here (is its engine running?)"
    else
        engine=$candidate
        break
    fi
done
if [ -z "$engine" ]; then
    echo "not run: no image was built, since no engine works here." >&2
    echo "\`sh deploy/images/check.sh\` tries what the images hold without one." >&2
    exit 1
fi

# image, folder: an image needs not run for this.
take_records() {
    rm -rf "$2"
    mkdir -p "$2"
    case $engine in
    docker | podman)
        container=$("$engine" create "$1")
        "$engine" cp "$container:/var/lib/dpkg/status.d" "$2/"
        "$engine" cp "$container:/etc/os-release" "$2/"
        "$engine" rm "$container" >/dev/null
        ;;
    buildah)
        container=$(buildah from "$1")
        # Who is not root mounts in a namespace of his own.
        unshare=
        [ "$(id -u)" -eq 0 ] || unshare="buildah unshare"
        # shellcheck disable=SC2016 # the inner shell expands them
        $unshare sh -c 'root=$(buildah mount "$0") && cp -r "$root/var/lib/dpkg/status.d" "$root/etc/os-release" "$1/"' "$container" "$2"
        buildah rm "$container" >/dev/null
        ;;
    esac
}

for service in key-management order-api portal-api wallet webhook-dispatcher; do
    image=$registry/$service:$version
    set -- --file deploy/images/Containerfile --target "$service" --tag "$image" \
        --build-arg "VERSION=$version" --build-arg "REVISION=$revision" --build-arg "CREATED=$created" \
        --build-arg "CARGO_BUILD_JOBS=${CARGO_BUILD_JOBS:-default}"
    case $engine in
    docker) DOCKER_BUILDKIT=1 docker build "$@" . ;;
    # Their own format has no HEALTHCHECK.
    podman) podman build --format docker "$@" . ;;
    buildah) buildah build --format docker "$@" . ;;
    esac
    take_records "$image" "target/images/packages/$service"
    echo "$image: built by $engine"
done
