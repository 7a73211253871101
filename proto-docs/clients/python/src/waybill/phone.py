"""Phone numbers as shops in India store them."""

from __future__ import annotations

import re

_MOBILE = re.compile(r"(?:0091|91|0)?([6-9][0-9]{9})")


def indian_phone(text: str) -> str:
    """The number with its country code, `+919800000001`.

    Ten digits of an Indian mobile number, with or without 0 or 91 in front, get +91. Other texts stay as they are, and
    the service refuses them if they are no number.
    """
    mobile = _MOBILE.fullmatch(re.sub(r"[\s().-]", "", text))
    return f"+91{mobile[1]}" if mobile else text
