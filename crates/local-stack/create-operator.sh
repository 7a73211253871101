#!/bin/sh
# Creates an administrator of the console in the stack of `make run`, and prints a link that sets the password once.
# The address is in EMAIL, the name in NAME. The argument is the folder of the programs.
set -eu
STACK=target/local-stack/stack.json
: "${EMAIL:?say: make operator EMAIL=you@company.example NAME='Your name'}" "${NAME:?say: make operator EMAIL=you@company.example NAME='Your name'}"
[ -f "$STACK" ] || {
    echo "error: the stack does not run. Start it with make run." >&2
    exit 1
}
field() { sed -n "s|.*\"$1\": *\"\($2[^\"]*\)\".*|\1|p" "$STACK"; }
WAYBILL_DATABASE__URL=$(field portal-api postgres)
WAYBILL_PUBLIC__URL=$(field portalApi http)
WAYBILL_PUBLIC__CONSOLE_URL=$(field operatorConsole http)
export WAYBILL_DATABASE__URL WAYBILL_PUBLIC__URL WAYBILL_PUBLIC__CONSOLE_URL
exec "$1/portal-api" create-operator --email "$EMAIL" --name "$NAME"
