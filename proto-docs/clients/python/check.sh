#!/bin/sh
# The linters of the Python client, and of the test of the guides. `make lint` calls it with the tools in PATH.
set -eu
cd "$(dirname "$0")"
[ -e src/waybill/schema.pyi ] || datamodel-codegen
ruff format --quiet --check . ../guides
ruff check --quiet . ../guides
mypy --no-error-summary
MYPYPATH=../guides mypy --no-error-summary ../guides/*.py
