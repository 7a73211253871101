"""The types of the API, for type checkers: `schema.pyi`, generated from the OpenAPI document.

At run time each type is a plain `dict` or text, so importing one always works and checks nothing.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return dict
