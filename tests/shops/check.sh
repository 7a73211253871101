#!/bin/sh
# The linters of the integrator suite. `make lint` calls it with the tools of the Python client in PATH.
set -eu
cd "$(dirname "$0")"
ruff format --quiet --check .
ruff check --quiet .
mypy --no-error-summary
