# Gives the roles that serve their rights (deploy/grants), after the migrations: as often as compose comes up.
set -eu
PGPASSWORD=$(cat /run/secrets/postgres-admin)
export PGPASSWORD

# database, owner, role that serves, files
grant() {
    database=$1 owner=$2 service=$3
    shift 3
    # As the owner, whose tables they are.
    set -- --command="SET ROLE $owner" $(printf -- '--file=/grants/%s.sql ' "$@")
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=service="$service" --dbname="$database" "$@"
}

grant key_management key_management_owner key_management_service every rows
grant order_api order_api_owner order_api_service every rows
grant portal_api portal_api_owner portal_api_service every rows
grant wallet wallet_owner wallet_service every wallet
grant webhook_dispatcher webhook_dispatcher webhook_dispatcher every
