"""Each test runs with each shop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from shop import PROGRAMS, Shop
from stack import Business

#: More than the tests can spend.
TOP_UP_PAISE = 10_000_000


class ByFileAndShop(LoadScopeScheduling):
    """One worker has all tests of a file with a shop, so that their receiver starts once."""

    def _split_scope(self, nodeid: str) -> str:
        return f"{nodeid.partition('::')[0]} {nodeid.partition('[')[2]}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return ByFileAndShop(config, log)


@pytest.fixture(scope="session", params=PROGRAMS)
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
