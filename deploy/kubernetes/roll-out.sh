#!/bin/sh
# Brings a cluster to what an overlay says, in order: what the services stand on, then the migrations, then the services.
#
#   deploy/kubernetes/roll-out.sh <folder of an overlay>
#
# It stops where a step fails, and what serves goes on serving: nothing of a later step was touched. Running it again goes on.
# To roll back, roll out the former release: migrations only ever add to what it knows (README.md).
set -eu

overlay=${1:?usage: $0 <folder of an overlay>}
namespace=waybill
rendered=$(mktemp)
trap 'rm -f "$rendered"' EXIT

say() {
    printf '\n== %s\n' "$*"
}

apply() {
    kubectl apply --server-side --field-manager=roll-out --filename "$rendered" --selector "rollout-step=$1"
}

# Until all are complete, or the first has failed; each gives up by itself after an hour.
wait_for_migrations() {
    while :; do
        # One word per Job, empty while it runs.
        ends=$(kubectl --namespace "$namespace" get job --selector rollout-step=migration --output \
            'jsonpath={range .items[*]}[{.status.conditions[?(@.status=="True")].type}]{"\n"}{end}')
        case $ends in
        *Failed*)
            echo "error: a migration did not come to its end; the services are as they were. The logs:" >&2
            kubectl --namespace "$namespace" logs --selector app.kubernetes.io/component=migration \
                --all-containers --prefix --tail=50 >&2
            exit 1
            ;;
        esac
        # Complete ones say `[SuccessCriteriaMet Complete]`, or `[Complete]` alone.
        if [ -n "$ends" ] && ! printf '%s\n' "$ends" | grep -qv Complete; then return; fi
        sleep 2
    done
}

kubectl kustomize "$overlay" >"$rendered"

say "What the services stand on"
apply platform
# Databases and users are made by their operators as soon as the servers are there.
kubectl --namespace "$namespace" wait --for=condition=Ready --timeout=15m cluster.postgresql.cnpg.io/postgres
kubectl --namespace "$namespace" wait --for=condition=AllReplicasReady --timeout=15m rabbitmqcluster/rabbitmq
kubectl --namespace "$namespace" wait --for=jsonpath='{.status.applied}'=true --timeout=5m database.postgresql.cnpg.io --all
kubectl --namespace "$namespace" wait --for=condition=Ready --timeout=5m \
    vhost.rabbitmq.com,exchange.rabbitmq.com,queue.rabbitmq.com,binding.rabbitmq.com --all
kubectl --namespace "$namespace" wait --for=condition=Ready --timeout=5m \
    user.rabbitmq.com,permission.rabbitmq.com,topicpermission.rabbitmq.com --all

say "Migrations"
# A Job cannot be changed; those of the former release are over.
kubectl --namespace "$namespace" delete job --selector rollout-step=migration --ignore-not-found --wait
apply migration
wait_for_migrations

say "Services"
apply service
for deployment in key-management wallet portal-api order-api webhook-dispatcher; do
    kubectl --namespace "$namespace" rollout status --timeout=15m "deployment/$deployment"
done
