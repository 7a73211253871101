#!/bin/sh
# The linters of the Python client. `make lint` calls it with the tools in PATH.
set -eu
cd "$(dirname "$0")"
ruff format --quiet --check .
ruff check --quiet .
mypy --no-error-summary
readme=$(mktemp -d)
trap 'rm -r "$readme"' EXIT
python3 tests/readme.py >"$readme/readme.py"
mypy --no-error-summary "$readme/readme.py"
# Fails if the types are older than the OpenAPI document.
datamodel-codegen --check
