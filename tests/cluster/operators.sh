#!/usr/bin/env bash
# cert-manager and KEDA, as their modules describe them: operators.sh <folder of programs.sh> <state folder>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) bin=$(cd "$1" && pwd) state=$(cd "$2" && pwd)
export KUBECONFIG=$state/pki/admin.kubeconfig
image() { # name, and further options of `buildah config`; the programs are in the folder of its name
  container=$(buildah from scratch)
  buildah copy -q "$container" "$state/$1" / >/dev/null
  buildah config --user 65532:65532 "${@:2}" "$container"
  buildah commit -q "$container" "localhost/$1:1" >/dev/null && buildah rm "$container" >/dev/null
  "$here/load.sh" "$state" "localhost/$1:1"
}
mkdir -p "$state/cert-manager" "$state/keda" && cd "$state"
cp "$bin/cert-manager" cert-manager/
cp "$bin/keda-operator" keda/keda && cp "$bin/keda-adapter" keda/ && cp "$bin/keda-webhooks" keda/keda-admission-webhooks
image cert-manager --entrypoint '["/cert-manager"]'
image keda

chart=$(cd "$bin/src/cert-manager" && go list -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)/deploy/charts/cert-manager
"$bin/helm" upgrade --install cert-manager "$chart" --namespace cert-manager --create-namespace --wait --timeout 180s --values - >/dev/null <<'Y'
crds: {enabled: true}
startupapicheck: {enabled: false}
livenessProbe: {enabled: false}
image: &image {repository: localhost/cert-manager, tag: "1"}
extraArgs: [controller]
webhook: {image: *image, extraArgs: [webhook]}
cainjector: {image: *image, extraArgs: [cainjector]}
Y
# As the start-up check of the chart: until the injector has told Kubernetes the webhook's authority.
issuer='{"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": "check", "namespace": "default"}, "spec": {"selfSigned": {}}}'
deadline=$((SECONDS + 120))
until "$bin/kubectl" apply --dry-run=server --filename - <<<"$issuer" >/dev/null; do
  [ "$SECONDS" -lt "$deadline" ] || exit 1
  sleep 1
done
"$bin/kubectl" kustomize "$bin/src/keda/config/default" | sed 's|image: ghcr.io/.*|image: localhost/keda:1|; s|imagePullPolicy: Always|imagePullPolicy: Never|' |
  "$bin/kubectl" apply --server-side --filename - >/dev/null
"$bin/kubectl" --namespace keda wait --for=condition=Available deployment --all --timeout=180s >/dev/null
