#!/usr/bin/env bash
# Builds what a cluster needs from the Go module proxy: programs.sh <folder> [operators]. Once; 20 minutes on two cores, and 15 more for the
# operators.
set -euo pipefail
kubernetes=v1.34.4 etcd=v3.6.13 certmanager=v1.21.2 keda=v2.21.0
mkdir -p "${1:?usage: $0 <folder>}/src"
here=$(cd "$(dirname "$0")" && pwd) bin=$(cd "$1" && pwd)
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false

# A program of a module: name, module, version, package.
program() {
  [ ! -x "$bin/$1" ] || return 0
  mkdir -p "$bin/src/$1" && cd "$bin/src/$1"
  rm -f go.mod go.sum && go mod init "cluster.test/$1" 2>/dev/null
  printf '//go:build tools\n\npackage tools\n\nimport _ "%s"\n' "$4" >tools.go
  go get "$2@$3" && go mod tidy
  go build -ldflags '-s -w' -o "$bin/$1" "$4"
}

# Kubernetes' own module refers to its parts by path; here they come in their published versions.
kubernetes() {
  [ ! -x "$bin/kubelet" ] || return 0
  mkdir -p "$bin/src/kubernetes" && cd "$bin/src/kubernetes"
  printf 'module cluster.test/kubernetes\n\ngo 1.26\n' >go.mod
  own=$(go mod download -json "k8s.io/kubernetes@$kubernetes" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
  {
    printf 'module cluster.test/kubernetes\n\ngo 1.26\n\nrequire k8s.io/kubernetes %s\n\nreplace (\n' "$kubernetes"
    sed -n '/=> \.\/staging/p' "$own" | awk -v version="v0.${kubernetes#v1.}" '{ print "\t" $1 " => " $1 " " version }'
    echo ')'
  } >go.mod
  programs="kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl"
  { printf '//go:build tools\n\npackage tools\n\nimport (\n'; for p in $programs; do printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' "$p"; done; echo ')'; } >tools.go
  go mod tidy
  version=k8s.io/component-base/version
  # shellcheck disable=SC2046,SC2086 # one argument per program
  go build -ldflags "-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=34" -o "$bin/" \
    $(printf 'k8s.io/kubernetes/cmd/%s ' $programs)
}

# In the module's own folder, with the versions that it chose.
keda() {
  folder=$(go mod download -json "github.com/kedacore/keda/v2@$keda" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
  ln -sfn "$folder" "$bin/src/keda" && cd "$folder"
  for program in operator adapter webhooks; do
    [ -x "$bin/keda-$program" ] || go build -ldflags '-s -w' -o "$bin/keda-$program" "./cmd/$program"
  done
}

# Below cert-manager's path, so that it may use its internal packages.
certmanager() {
  mkdir -p "$bin/src/cert-manager" && cd "$bin/src/cert-manager"
  [ ! -x "$bin/cert-manager" ] || ! cmp --quiet "$here/cert-manager/main.go" main.go || return 0
  cp "$here/cert-manager/main.go" .
  rm -f go.mod go.sum && go mod init github.com/cert-manager/cert-manager/programs 2>/dev/null
  go get "github.com/cert-manager/cert-manager@$certmanager" && go mod tidy
  go build -ldflags '-s -w' -o "$bin/cert-manager" .
}

kubernetes
program etcd go.etcd.io/etcd/server/v3 "$etcd" go.etcd.io/etcd/server/v3
program coredns github.com/coredns/coredns v1.14.6 github.com/coredns/coredns
program helm helm.sh/helm/v4 v4.3.1 helm.sh/helm/v4/cmd/helm
program metrics-server sigs.k8s.io/metrics-server v0.8.0 sigs.k8s.io/metrics-server/cmd/metrics-server
program kube-router github.com/cloudnativelabs/kube-router/v2 v2.1.0 github.com/cloudnativelabs/kube-router/v2/cmd/kube-router
[ "${2:-}" != operators ] || { certmanager && keda; }
