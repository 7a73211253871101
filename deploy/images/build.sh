#!/bin/sh
# Makes the five images from programs of this machine, a Debian: build.sh <folder with the programs>. README.md lists the variables.
# With podman and buildah, the same programs of the same commit give the same images: files have the time of the commit.
set -eu
umask 022
programs=$(realpath "${1:?usage: $0 <folder with the programs>}")
cd "$(dirname "$0")/../.."
for made in services/portal-web/dist proto-docs/site/dist target/sdk; do
    [ -d "$made" ] || { echo "error: $made is missing; \`make images\` builds it" >&2; exit 1; }
done

registry=${REGISTRY:-waybill}
version=${VERSION:-$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)}
revision=$(git rev-parse HEAD)
[ -z "$(git status --porcelain)" ] || revision=$revision-changed
epoch=$(git log -1 --format=%ct)
services="key-management order-api portal-api wallet webhook-dispatcher"

# A client without its engine is not one.
works() {
    case $1 in
    docker) docker version --format '{{.Server.Version}}' ;;
    *) "$1" info ;;
    esac >/dev/null 2>&1
}

engine=
for candidate in ${ENGINE:-docker podman buildah}; do
    if [ -z "$engine" ] && works "$candidate"; then engine=$candidate; fi
done
[ -n "$engine" ] || { echo "error: none of ${ENGINE:-docker, podman, buildah} works here; install one" >&2; exit 1; }

dockerfile() {
    cat <<END
FROM scratch
COPY tree /
USER 65532:65532
LABEL org.opencontainers.image.title="$service" \
      org.opencontainers.image.description="Waybill: $description" \
      org.opencontainers.image.vendor="Waybill" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$version" \
      org.opencontainers.image.revision="$revision" \
      org.opencontainers.image.created="$(date --utc --date="@$epoch" +%Y-%m-%dT%H:%M:%SZ)"
# Blocks from a megabyte on, of which each check of a password needs 19, go back to the system when they are free. By itself
# glibc begins to keep such blocks once it has seen the first. crates/local-stack says the same.
ENV MALLOC_MMAP_THRESHOLD_=1048576 $variable
EXPOSE $public 8081 8082
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/bin/$service", "health"]
ENTRYPOINT ["/usr/bin/$service"]
CMD ["serve"]
END
}

# image, folder with its Dockerfile
build() {
    case $engine in
    docker) docker build --quiet --tag "$1" "$2" ;;
    # Their own format has no HEALTHCHECK. The label that they add is their version.
    *) "$engine" build --quiet --format docker --layers=false --timestamp "$epoch" --identity-label=false --tag "$1" "$2" ;;
    esac >/dev/null
}

# image, archive: an OCI layout, as registries store it
archive() {
    "$engine" push --quiet "$1" "oci:$work/oci:$1"
    tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --create --file "$2" --directory "$work/oci" .
    rm -r "$work/oci"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046,SC2086 # one argument per service
sh deploy/images/base-tree.sh "$work/base" $(printf "$programs/%s " $services)
for service in $services; do
    folder=$work/$service image=$registry/$service:$version
    tree=$folder/tree shared=$folder/tree/usr/share/waybill
    mkdir "$folder"
    cp -r "$work/base" "$tree"
    strip -o "$tree/usr/bin/$service" "$programs/$service"
    public='' variable=''
    case $service in
    key-management) description="API keys" ;;
    order-api)
        description="the integration API, the fleet API, tracking"
        public=8080
        variable="WAYBILL_DOCS__DOWNLOADS=/usr/share/waybill/downloads WAYBILL_DOCS__SITE=/usr/share/waybill/docs"
        mkdir -p "$shared/downloads"
        cp target/sdk/* "$shared/downloads/"
        cp -r proto-docs/site/dist "$shared/docs"
        ;;
    portal-api)
        description="the portal, its pages and what is behind them"
        public=8080 variable=WAYBILL_PAGES__FOLDER=/usr/share/waybill/pages
        mkdir -p "$shared"
        cp -r services/portal-web/dist "$shared/pages"
        ;;
    wallet) description="prepaid wallets, the ledger" ;;
    webhook-dispatcher) description="signed webhooks" ;;
    esac
    chmod -R u=rwX,go=rX "$tree"
    find "$tree" -exec touch --no-dereference --date="@$epoch" {} +
    dockerfile >"$folder/Dockerfile"
    build "$image" "$folder"
    [ -z "${ARCHIVES-}" ] || archive "$image" "$ARCHIVES/$service-$version-$(dpkg --print-architecture).tar"
    echo "$image: $(du --summarize --block-size=MB "$tree" | cut -f1), made by $engine"
    rm -r "$folder"
done
