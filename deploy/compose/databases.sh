#!/bin/sh
# Makes the databases and roles that are missing, and sets the roles' passwords, as a superuser: as often as compose comes up. PASSWORDS
# names the folder of their files. Without the superuser's there, psql's own ways to log in apply. psql 14 or newer.
set -eu
passwords=${PASSWORDS:-/run/secrets}
if [ -e "$passwords/postgres-admin" ]; then
    PGPASSWORD=$(cat "$passwords/postgres-admin")
    export PGPASSWORD
fi

sql() {
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=postgres "$@"
}

# role, file with its password
role() {
    # Not an argument, which every user of the machine can read.
    PASSWORD=$(cat "$passwords/$2")
    export PASSWORD
    sql --set=role="$1" <<'SQL'
\getenv password PASSWORD
SELECT format('CREATE ROLE %I', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
ALTER ROLE :"role" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
-- The services recognise some errors by their English text.
ALTER ROLE :"role" SET lc_messages TO 'C';
SQL
}

# database, role that owns it. Its locale is that of all tests, whatever the server's.
database() {
    sql --set=database="$1" --set=owner="$2" <<'SQL'
SELECT format('CREATE DATABASE %I OWNER %I TEMPLATE template0 ENCODING ''UTF8'' LOCALE_PROVIDER libc LOCALE ''C''', :'database', :'owner')
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
SQL
}

for service in key-management order-api portal-api wallet; do
    name=$(echo "$service" | tr - _)
    role "${name}_owner" "postgres-$service-owner"
    role "${name}_service" "postgres-$service"
    database "$name" "${name}_owner"
done
# It makes and drops the tables of the days itself, so one role owns them and serves.
role webhook_dispatcher postgres-webhook-dispatcher
database webhook_dispatcher webhook_dispatcher
