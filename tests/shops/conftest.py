"""Each test runs with each shop.

One worker of pytest has all tests of a file with a shop, so that their receiver starts once.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shop import PROGRAMS, Shop
from stack import Business

#: More than the tests can spend.
TOP_UP_PAISE = 10_000_000

SHOPS = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in PROGRAMS]


@pytest.fixture(scope="session", params=SHOPS)
def running(request: pytest.FixtureRequest) -> Iterator[Shop]:
    shop = Shop(PROGRAMS[request.param], Business(TOP_UP_PAISE))
    # Creates its tables.
    shop.serve()
    yield shop
    shop.close()
    said = "".join(shop.output)
    for secret in (shop.business.key, shop.endpoint.secret):
        assert secret not in said, "the shop shows a secret"


@pytest.fixture
def shop(running: Shop) -> Shop:
    """The receiver serves, and Waybill's webhooks reach it."""
    running.steps.arm(None)
    if not running.is_serving:
        running.serve()
    running.webhooks.forward_to = running.receiver_url
    return running
