"""A webhook route: `app.include_router(webhook_router(receiver, apply, "/webhook"))`."""

from __future__ import annotations

from typing import Callable

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from .database import Connection
from .errors import WebhookError
from .receiver import Receiver
from .schema import WebhookEvent

_BODY_MAX_BYTES = 1024 * 1024


def webhook_router(
    receiver: Receiver[Connection], apply: Callable[[WebhookEvent, Connection], None], path: str
) -> APIRouter:
    """An error of `apply` becomes a 500, and the service sends the webhook again."""
    router = APIRouter()

    async def webhook(request: Request) -> JSONResponse:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > _BODY_MAX_BYTES:
                return JSONResponse({"message": "The body is too large."}, status_code=413)
        try:
            # The database is synchronous, so it must not block the event loop.
            receipt = await run_in_threadpool(receiver.receive, bytes(body), request.headers, apply)
        except WebhookError:
            return JSONResponse({"message": "The signature does not match."}, status_code=401)
        return JSONResponse({"received": True, "receipt": receipt})

    router.add_api_route(path, webhook, methods=["POST"])
    return router
