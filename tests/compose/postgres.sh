#!/bin/sh
# What compose.yaml relies on of the official image, for Debian's PostgreSQL.
set -eu
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 700 "$PGDATA" /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  # shellcheck disable=SC2086 # several options
  initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" ${POSTGRES_INITDB_ARGS:-}
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
fi
exec postgres -c listen_addresses='*' "$@"
