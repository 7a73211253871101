"""Takes the elements of an answer's `data` apart without parsing them, because signatures cover bytes."""

from __future__ import annotations

import re

_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],]')


def elements_of(text: bytes) -> list[bytes]:
    """The text of each element of the array `data`, exactly as it was sent. The text must be a JSON object."""
    elements: list[bytes] = []
    depth, name, start = 0, b"", -1
    for found in _TOKENS.finditer(text):
        token = found[0]
        if depth == 2 and token in {b",", b"]"} and start >= 0:
            element = text[start : found.start()].strip()
            if element:
                elements.append(element)
            start = found.end() if token == b"," else -1
        if depth == 1 and token.startswith(b'"'):
            name = token
        if depth == 1 and token == b"[" and name == b'"data"':
            start = found.end()
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token, 0)
    return elements
