#!/bin/sh
# Tests the Python client against a real stack. From the root of the repository, with the development tools in PATH:
#   export PATH="$PWD/target/tools/client-python/bin:$PATH"
#   target/debug/local-stack with-servers -- target/debug/with-business -- sh proto-docs/clients/python/test.sh
set -eu
cd "$(dirname "$0")"
PYTHONPATH=src exec python3 -W error -m unittest "$@"
