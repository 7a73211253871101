#!/bin/sh
# Writes the files that compose.yaml takes its secrets from, into compose/secrets (git ignores it). What is there stays; to have
# another value, remove the file, run this again, and `docker compose up --detach` (README.md, "Secrets").
set -eu
cd "$(dirname "$0")"

services="key-management order-api portal-api wallet webhook-dispatcher"
# Whoever may enter the folder may read them; the programs run as other users than whoever runs this, so the files are for all.
umask 077
mkdir -p secrets
chmod 700 secrets

# file, value
keep() {
    [ -e "secrets/$1" ] && return
    printf '%s' "$2" >"secrets/$1.new"
    chmod 444 "secrets/$1.new"
    mv "secrets/$1.new" "secrets/$1"
}

# The same, whether it is there or not: what is made from other files.
write() {
    rm -f "secrets/$1"
    keep "$1" "$2"
}

random() {
    openssl rand -hex 24
}

keep postgres-admin "$(random)"
keep internal-token "$(random)"
keep key-management-pepper "$(random)"
keep order-api-fleet-token "$(random)"
keep portal-api-operator-token "$(random)"
keep portal-api-mfa-key "$(openssl rand -base64 32)"
# Empty unless the token is being changed (README.md, "Secrets").
keep order-api-previous-fleet-token ""
keep portal-api-previous-operator-token ""
# Empty until the identity provider has issued one.
keep portal-api-sso-client-secret ""
keep webhook-dispatcher-key "$(openssl rand -base64 32)"

definitions=$(cat rabbitmq-definitions.json)
for service in $services; do
    database=$(echo "$service" | tr - _) role=$database
    if [ "$service" != webhook-dispatcher ]; then
        keep "postgres-$service-owner" "$(random)"
        write "$service-owner-database-url" \
            "postgres://${database}_owner:$(cat "secrets/postgres-$service-owner")@postgres:5432/$database"
        role=${database}_service
    fi
    keep "postgres-$service" "$(random)"
    write "$service-database-url" "postgres://$role:$(cat "secrets/postgres-$service")@postgres:5432/$database"

    keep "rabbitmq-$service" "$(random)"
    password=$(cat "secrets/rabbitmq-$service")
    write "$service-broker-url" "amqp://$service:$password@rabbitmq:5672/waybill"
    # As RabbitMQ has it: four bytes of salt and the SHA-256 of both, in base64. The salt is text, as a shell holds no other bytes.
    salt=$(openssl rand -hex 2)
    hash=$({ printf '%s' "$salt"; printf '%s%s' "$salt" "$password" | openssl dgst -sha256 -binary; } | openssl base64 -A)
    definitions=$(printf '%s' "$definitions" | sed "s|@$service@|$hash|")
done
write rabbitmq-definitions "$definitions"
echo "The secrets are in $(pwd)/secrets"
