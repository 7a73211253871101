"""The asynchronous client, on httpx: `pip install waybill[async]`. Its methods are those of `waybill.Waybill`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, Protocol, Union

import httpx

from . import _calls
from ._call import (
    ANSWER_MAX_BYTES,
    Answer,
    Attempts,
    Call,
    Environment,
    Exchange,
    ExchangeResult,
    Mode,
    Reply,
    Settings,
)
from ._secret import Secret
from .errors import NoAnswerError, WaybillError
from .events import EventPage, Reading
from .orders import Created

if TYPE_CHECKING:
    from .schema import (
        NewDelivery,
        NewOrder,
        Order,
        OrderEvidence,
        SimulatedEvent,
        SimulatedOrder,
        TimelineEntry,
        WebhookEvent,
    )


class AsyncWaybill:
    """Use it as `async with AsyncWaybill(…) as waybill`, or call `aclose`."""

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
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        http: Optional[httpx.AsyncClient] = None,
    ) -> None:
        """As `waybill.Waybill`, but `sleep` replaces that of the environment.

        Pass `http` for proxies or certificates of your own; `aclose` closes it too.
        """
        self._settings = Settings.checked(
            api_key, base_url, attempt_timeout_s, deadline_s, app_info, on_request, on_response, environment
        )
        # Each attempt has a timeout of its own, which covers the whole exchange.
        self._http = http or httpx.AsyncClient(timeout=None)  # noqa: S113
        transport = _Transport(self._settings, self._http, sleep)
        self.orders = AsyncOrders(transport)
        self.events = AsyncEvents(transport)

    @property
    def mode(self) -> Mode:
        return self._settings.mode

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncWaybill:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"AsyncWaybill({self._settings.key!r}, {self._settings.base_url!r})"


class _Transport:
    def __init__(self, settings: Settings, http: httpx.AsyncClient, sleep: Callable[[float], Awaitable[None]]) -> None:
        self.settings, self.http, self.sleep = settings, http, sleep

    async def send(self, call: Call) -> Answer:
        attempts = Attempts(self.settings, call)
        while True:
            timeout_s = attempts.begin()
            try:
                outcome = await asyncio.wait_for(self._exchange(call.method, attempts), timeout_s)
            except (asyncio.TimeoutError, httpx.TimeoutException):
                outcome = NoAnswerError("timeout")
            except httpx.HTTPError as error:
                outcome = NoAnswerError("unreachable", type(error).__name__)
            read = attempts.read(outcome)
            if not isinstance(read, WaybillError):
                return read
            seconds = attempts.pause_after(read)
            if seconds is None:
                raise read
            await self.sleep(seconds)

    async def _exchange(self, method: str, attempts: Attempts) -> Union[Reply, NoAnswerError]:
        given = attempts.headers()
        # httpx hides the authorization when it is printed.
        headers = httpx.Headers({name: v.expose() if isinstance(v, Secret) else v for name, v in given.items()})
        async with self.http.stream(
            method, attempts.url, headers=headers, content=attempts.body, follow_redirects=False
        ) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > ANSWER_MAX_BYTES:
                    return NoAnswerError("unusable_answer")
            return Reply(response.status_code, dict(response.headers), bytes(body))


class AsyncOrders:
    def __init__(self, transport: _Transport) -> None:
        self._transport = transport

    async def create(self, order: Union[NewOrder, str], *, idempotency_key: str) -> Created:
        answer = await self._transport.send(_calls.create(order, idempotency_key))
        return Created(answer.body, answer.headers.get("idempotent-replayed") == "true")

    async def get(self, order_id: str) -> Order:
        order: Order = (await self._transport.send(_calls.get(order_id))).body
        return order

    def list(
        self,
        *,
        order_reference: Optional[str] = None,
        tracking_code: Optional[str] = None,
        status: Optional[str] = None,
        updated_after: Optional[str] = None,
        cod_status: Optional[str] = None,
        payment_type: Optional[str] = None,
        created_from: Optional[str] = None,
        created_until: Optional[str] = None,
        search: Optional[str] = None,
        starting_after: Optional[str] = None,
        page_size: int = 100,
    ) -> AsyncIterator[Order]:
        filters = _calls.order_filters(
            order_reference=order_reference,
            tracking_code=tracking_code,
            status=status,
            updated_after=updated_after,
            cod_status=cod_status,
            payment_type=payment_type,
            created_from=created_from,
            created_until=created_until,
            search=search,
            page_size=page_size,
        )
        return self._pages(lambda cursor: _calls.order_page({**filters, "startingAfter": cursor}), starting_after)

    def timeline(
        self,
        order_id: str,
        *,
        starting_after: Optional[str] = None,
        on_incomplete: Optional[Callable[[Sequence[str]], None]] = None,
    ) -> AsyncIterator[TimelineEntry]:
        def page(cursor: Optional[str]) -> Call:
            return _calls.timeline_page(order_id, {"startingAfter": cursor})

        return self._pages(page, starting_after, on_incomplete)

    async def cancel(self, order_id: str, *, reason: Optional[str] = None) -> Order:
        order: Order = (await self._transport.send(_calls.cancel(order_id, reason))).body
        return order

    async def reattempt(self, order_id: str, *, date: Optional[str] = None, note: Optional[str] = None) -> Order:
        order: Order = (await self._transport.send(_calls.reattempt(order_id, date, note))).body
        return order

    async def request_return(self, order_id: str) -> Order:
        order: Order = (await self._transport.send(_calls.request_return(order_id))).body
        return order

    async def correct_delivery(
        self, order_id: str, *, phone: Optional[str] = None, delivery: Optional[NewDelivery] = None
    ) -> Order:
        order: Order = (await self._transport.send(_calls.correct_delivery(order_id, phone, delivery))).body
        return order

    async def issue_delivery_code(self, order_id: str) -> str:
        code: str = (await self._transport.send(_calls.delivery_code(order_id))).body["deliveryCode"]
        return code

    async def evidence(self, order_id: str) -> OrderEvidence:
        evidence: OrderEvidence = (await self._transport.send(_calls.evidence(order_id))).body
        return evidence

    async def simulate(self, order_id: str, event: SimulatedEvent) -> SimulatedOrder:
        order: SimulatedOrder = (await self._transport.send(_calls.simulate(order_id, event))).body
        return order

    async def _pages(
        self,
        page: Callable[[Optional[str]], Call],
        cursor: Optional[str],
        on_incomplete: Optional[Callable[[Sequence[str]], None]] = None,
    ) -> AsyncIterator[Any]:
        while True:
            answer = await self._transport.send(page(cursor))
            if on_incomplete and answer.body.get("incomplete"):
                on_incomplete(answer.body["incomplete"])
            for entry in answer.body["data"]:
                yield entry
            cursor = _calls.page_after(answer)
            if cursor is None:
                return


class AsyncCursorStore(Protocol):
    async def load(self) -> Optional[str]: ...

    async def save(self, cursor: str) -> None: ...


class AsyncEvents:
    def __init__(self, transport: _Transport) -> None:
        self._transport = transport

    async def get(self, event_id: str) -> WebhookEvent:
        event: WebhookEvent = (await self._transport.send(_calls.event(event_id))).body
        return event

    async def page(
        self,
        *,
        starting_after: Optional[str] = None,
        since: Optional[str] = None,
        types: Sequence[str] = (),
        limit: int = _calls.PAGE_MAX,
        wait_seconds: int = 0,
    ) -> EventPage:
        call = _calls.events(starting_after, since, types, limit, wait_seconds)
        return EventPage.of(await self._transport.send(call))

    async def list(
        self, *, starting_after: Optional[str] = None, since: Optional[str] = None, types: Sequence[str] = ()
    ) -> AsyncIterator[WebhookEvent]:
        while True:
            page = await self.page(starting_after=starting_after, since=since, types=types)
            for event in page.data:
                yield event
            if not page.has_more:
                return
            starting_after, since = page.next, None

    async def follow(
        self,
        cursors: AsyncCursorStore,
        *,
        types: Sequence[str] = (),
        start: Optional[str] = None,
        wait_seconds: int = _calls.WAIT_MAX_S,
        on_retry: Optional[Callable[[WaybillError], None]] = None,
    ) -> AsyncIterator[WebhookEvent]:
        """As `Events.follow`. Cancel its task to end it."""
        reading = Reading(await cursors.load(), start, types, wait_seconds)
        while True:
            try:
                page = EventPage.of(await self._transport.send(reading.poll()))
            except WaybillError as error:
                seconds = reading.failed(error, self._transport.settings.environment.jitter())
                if on_retry:
                    on_retry(error)
                await self._transport.sleep(seconds)
                continue
            for event in page.data:
                yield event
                await cursors.save(event["id"])
            if reading.has_moved(page):
                await cursors.save(page.next)
