"""The synchronous client."""

from __future__ import annotations

from typing import Callable, Optional

from ._call import Environment, Exchange, ExchangeResult, Mode, Settings
from ._transport import Transport
from .events import Events
from .orders import Orders


class Waybill:
    """Threads may share a client; it keeps no connection open between calls."""

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        attempt_timeout_s: float = 15.0,
        deadline_s: float = 60.0,
        app_info: Optional[str] = None,
        on_request: Optional[Callable[[Exchange], None]] = None,
        on_response: Optional[Callable[[ExchangeResult], None]] = None,
        environment: Optional[Environment] = None,
    ) -> None:
        """`base_url` ends with `/v1`. The key decides the mode. Defaults: `WAYBILL_API_KEY` and `WAYBILL_BASE_URL`.

        `attempt_timeout_s` is the longest time for one attempt; the service may take 5 s to answer a repeated key.
        `deadline_s` is the longest time for a call with all its repetitions. `app_info`, such as `my-shop/2.1`, is
        added to the user agent. An error that a hook raises ends the call.
        """
        self._settings = Settings.checked(
            api_key, base_url, attempt_timeout_s, deadline_s, app_info, on_request, on_response, environment
        )
        transport = Transport(self._settings)
        self.orders = Orders(transport)
        self.events = Events(transport)

    @property
    def mode(self) -> Mode:
        return self._settings.mode

    @property
    def deadline_s(self) -> float:
        return self._settings.deadline_s

    @property
    def environment(self) -> Environment:
        return self._settings.environment

    def __repr__(self) -> str:
        return f"Waybill({self._settings.key!r}, {self._settings.base_url!r})"
