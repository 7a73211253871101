#!/bin/sh
# Gives the roles that serve their rights (deploy/grants), after the migrations: as often as compose comes up.
set -eu
PGPASSWORD=$(cat /run/secrets/postgres-admin)
export PGPASSWORD

# database, owner, role that serves, files
grant() {
    database=$1 owner=$2 service=$3
    shift 3
    for file in "$@"; do
        set -- "$@" --file="/grants/$file.sql"
        shift
    done
    # As the owner, whose tables they are.
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=service="$service" --dbname="$database" \
        --command="SET ROLE $owner" "$@"
}

grant key_management key_management_owner key_management_service every rows
grant order_api order_api_owner order_api_service every rows
grant portal_api portal_api_owner portal_api_service every rows
grant wallet wallet_owner wallet_service every wallet
grant webhook_dispatcher webhook_dispatcher webhook_dispatcher every
