#!/bin/sh
# Makes the Secrets that the manifests refer to, each from fresh randomness, and leaves alone those that are there:
#
#   deploy/kubernetes/secrets.sh                     all that can be made up
#   deploy/kubernetes/secrets.sh rotate <secret>     makes one of them anew (README.md, "Secrets", says what to do then)
#
# What somebody else gave you (the payment provider, the mail server, the object store) it asks for where `given` stands. A cluster
# that has its secrets from a vault (External Secrets, Sealed Secrets) makes the same names and keys from there instead.
set -eu

namespace=${NAMESPACE:-waybill}

# secret  key  what  [label]
# what: hex (random letters and digits, which stand in a URL as they are), base64 (32 random bytes), a word that stands as it is
# (=word), given (asked for; left out when there is no answer).
table() {
    cat <<'TABLE'
internal-calls                 token              hex
internal-callers               order-api          given
internal-callers               portal-api         given
internal-callers               wallet             given
key-management                 pepper             hex
order-api                      fleet-token        hex
portal-api                     operator-token     hex
webhook-dispatcher             key                base64
webhook-dispatcher             previous-keys      given
postgres-key-management-owner  username           =key_management_owner     cnpg.io/reload
postgres-key-management-owner  password           hex
postgres-key-management        username           =key_management_service   cnpg.io/reload
postgres-key-management        password           hex
postgres-order-api-owner       username           =order_api_owner          cnpg.io/reload
postgres-order-api-owner       password           hex
postgres-order-api             username           =order_api_service        cnpg.io/reload
postgres-order-api             password           hex
postgres-portal-api-owner      username           =portal_api_owner         cnpg.io/reload
postgres-portal-api-owner      password           hex
postgres-portal-api            username           =portal_api_service       cnpg.io/reload
postgres-portal-api            password           hex
postgres-wallet-owner          username           =wallet_owner             cnpg.io/reload
postgres-wallet-owner          password           hex
postgres-wallet                username           =wallet_service           cnpg.io/reload
postgres-wallet                password           hex
postgres-webhook-dispatcher    username           =webhook_dispatcher       cnpg.io/reload
postgres-webhook-dispatcher    password           hex
rabbitmq-key-management        username           =key-management           rabbitmq.com/topology-operator
rabbitmq-key-management        password           hex
rabbitmq-order-api             username           =order-api                rabbitmq.com/topology-operator
rabbitmq-order-api             password           hex
rabbitmq-portal-api            username           =portal-api               rabbitmq.com/topology-operator
rabbitmq-portal-api            password           hex
rabbitmq-wallet                username           =wallet                   rabbitmq.com/topology-operator
rabbitmq-wallet                password           hex
rabbitmq-webhook-dispatcher    username           =webhook-dispatcher       rabbitmq.com/topology-operator
rabbitmq-webhook-dispatcher    password           hex
razorpay                       key-id             given
razorpay                       key-secret         given
razorpay                       webhook-secret     given
mail-server                    user               given
mail-server                    password           given
portal-mfa                     key                given
portal-mfa                     previous-key       given
portal-sso                     client-secret      given
backups                        access-key-id      given
backups                        secret-access-key  given
TABLE
}

# A value, for `kubectl create secret --from-env-file`, on standard output; nothing when none is given.
value() {
    case $2 in
    hex) printf '%s=%s\n' "$1" "$(openssl rand -hex 24)" ;;
    base64) printf '%s=%s\n' "$1" "$(openssl rand -base64 32)" ;;
    =*) printf '%s=%s\n' "$1" "${2#=}" ;;
    given)
        # Asked for at the terminal alone, without showing it, and never taken from an argument, which others could see.
        [ -t 0 ] || return 0
        printf '%s, %s (empty: not now): ' "$secret" "$1" >&2
        stty -echo
        IFS= read -r answer || answer=
        stty echo
        echo >&2
        [ -z "$answer" ] || printf '%s=%s\n' "$1" "$answer"
        ;;
    esac
}

# Writes the values of a secret on standard output.
values() {
    table | while read -r name key what _; do
        [ "$name" != "$secret" ] || echo "$key $what"
    done >"$work/keys"
    # From another channel than the terminal's, which `value` asks.
    while read -r key what <&3; do
        value "$key" "$what"
    done 3<"$work/keys"
}

exists() {
    kubectl --namespace "$namespace" get secret "$secret" >/dev/null 2>&1
}

make() {
    values >"$work/values"
    if ! grep -q . "$work/values"; then
        echo "$secret: nothing was given; not made" >&2
        return
    fi
    label=$(table | awk -v name="$secret" '$1 == name && $4 { print $4 "=true" }')
    case $secret in
    postgres-*) type=kubernetes.io/basic-auth ;;
    *) type=Opaque ;;
    esac
    # A file rather than arguments, which every process of this machine could read.
    kubectl --namespace "$namespace" create secret generic "$secret" --type="$type" --from-env-file="$work/values" \
        --dry-run=client --output=yaml >"$work/secret.yaml"
    if [ -n "$label" ]; then
        kubectl label --local --filename "$work/secret.yaml" --output=yaml "$label" >"$work/labelled.yaml"
        mv "$work/labelled.yaml" "$work/secret.yaml"
    fi
    kubectl apply --server-side --force-conflicts --filename "$work/secret.yaml" >/dev/null
    echo "$secret: made"
}

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

if [ "${1-}" = rotate ]; then
    secret=${2:?which one?}
    case $secret in
    key-management)
        echo "error: with another pepper, every API key that was ever handed out is unknown" >&2
        exit 2
        ;;
    webhook-dispatcher)
        echo "error: without its former key no webhook can be signed; README.md, \"Another key for signing secrets\", says how" >&2
        exit 2
        ;;
    esac
    table | grep -q "^$secret " || { echo "error: there is no $secret; the table of this script has all" >&2; exit 2; }
    make
    exit
fi
[ $# -eq 0 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }

table | awk '!seen[$1]++ { print $1 }' >"$work/names"
while read -r secret <&4; do
    if exists; then echo "$secret: is there"; else make; fi
done 4<"$work/names"
