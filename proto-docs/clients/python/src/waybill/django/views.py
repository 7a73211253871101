"""A webhook view: `path("webhook", webhook_view(receiver, apply))`."""

from __future__ import annotations

from typing import Callable

from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from ..errors import WebhookError
from ..receiver import Receiver
from ..schema import WebhookEvent


def webhook_view(
    receiver: Receiver[BaseDatabaseWrapper], apply: Callable[[WebhookEvent, BaseDatabaseWrapper], None]
) -> Callable[[HttpRequest], JsonResponse]:
    """An error of `apply` becomes Django's 500, and the service sends the webhook again."""

    @csrf_exempt
    @require_POST
    def view(request: HttpRequest) -> JsonResponse:
        try:
            # DATA_UPLOAD_MAX_MEMORY_SIZE bounds the body.
            receipt = receiver.receive(request.body, request.headers, apply)
        except WebhookError:
            return JsonResponse({"message": "The signature does not match."}, status=401)
        return JsonResponse({"received": True, "receipt": receipt})

    return view
