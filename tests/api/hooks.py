"""Adds what the document cannot express: values that exist, and Waybill's own formats."""

import datetime
import itertools
import os
import re
import unicodedata

import schemathesis
from hypothesis import strategies as st

# Orders that exist from the start: id, tracking code, id of an event.
KNOWN = [order.split(":") for order in os.environ["KNOWN_ORDERS"].split(",")]
# A placeholder for an event of the requested order; no timeline contains it.
SOME_EVENT = "some-event"

# Plausible phone numbers: Indian mobile numbers, as people write them.
PHONES = st.builds(
    lambda first, rest, form: form.format(f"{first}{rest:09d}"),
    st.integers(6, 9),
    st.integers(0, 999_999_999),
    st.sampled_from(["+91{}", "+91 {}", "+91-{}", "+91 ({})"]),
)
# Times in the past. The service rejects future times, and the document cannot express that.
TIMES = st.datetimes(
    min_value=datetime.datetime(1970, 1, 2), max_value=datetime.datetime(2026, 1, 1)
).map(lambda time: time.isoformat() + "Z")

schemathesis.openapi.format("phone", PHONES)
schemathesis.openapi.format("date-time", TIMES)
schemathesis.openapi.format("order-id", st.sampled_from([order[0] for order in KNOWN]))
schemathesis.openapi.format("tracking-code", st.sampled_from([order[1] for order in KNOWN]))
schemathesis.openapi.format("order-cursor", st.sampled_from([order[0] for order in KNOWN]))
schemathesis.openapi.format("fleet-cursor", st.sampled_from([order[0] for order in KNOWN]))
schemathesis.openapi.format("event-id", st.sampled_from([order[2] for order in KNOWN]))
schemathesis.openapi.format("event-cursor", st.sampled_from(["now"] + [order[2] for order in KNOWN]))
# Links that are URLs, which the pattern cannot say. No order has a delivery code, so that any is refused.
schemathesis.openapi.format("photo-url", st.just("https://fleet.example/photos/7"))
schemathesis.openapi.format("delivery-code", st.just(""))
schemathesis.openapi.format("timeline-id", st.just(SOME_EVENT))


def is_unseen(character):
    """Whether a character is invisible and beyond U+FFFF. Only the parser rejects these, not the patterns."""
    code = ord(character)
    return code > 0xFFFF and (unicodedata.category(character) == "Cf" or 0xE0000 <= code <= 0xE0FFF)


def whole(value):
    """Replaces unseen characters by x, and 100.0 by 100: JSON Schema accepts 100.0 as an integer, the API does not."""
    if isinstance(value, str):
        return "".join("x" if is_unseen(character) else character for character in value)
    if isinstance(value, dict):
        return {name: whole(field) for name, field in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if is_whole else value


# "0" is drawn repeatedly. A resource with such a name would already exist.
COUNTER = itertools.count()
PLAIN_NAME = re.compile("[!-~]{1,100}")


def renamed(fields, name):
    """Makes a valid name unique. Leaves an invalid one unchanged, because it must be refused."""
    given = fields.get(name)
    if isinstance(given, str) and PLAIN_NAME.fullmatch(given):
        fields[name] = f"{given}-{next(COUNTER)}"


@schemathesis.hook
def map_body(context, body):
    body = whole(body)
    if isinstance(body, dict):
        renamed(body, "orderReference")
        renamed(body, "eventId")
    return body


@schemathesis.hook
def map_case(context, case):
    """Gives each request its own Idempotency-Key, and a timeline cursor an entry of the same order. Waits briefly."""
    if case.headers:
        renamed(case.headers, "Idempotency-Key")
    if case.query and case.query.get("startingAfter") == SOME_EVENT:
        order, _, event = KNOWN[0]
        case.path_parameters["id"] = order
        case.query["startingAfter"] = event
    # A valid wait is shortened, so that the run does not consist of waiting.
    if case.query and case.query.get("waitSeconds") in range(2, 26):
        case.query["waitSeconds"] = 1
    return case
