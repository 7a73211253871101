"""The client of the delivery API."""

from ._call import Environment, Exchange, ExchangeResult, Mode
from ._version import __version__
from .client import Waybill
from .errors import (
    ApiError,
    AuthenticationError,
    ConflictError,
    InsufficientBalanceError,
    InvalidRequestError,
    NoAnswerError,
    NotFoundError,
    OrderExistsError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    WaybillError,
    WebhookError,
)
from .events import CursorStore, EventPage
from .orders import Created
from .phone import indian_phone
from .receiver import Receiver
from .sync import Sync, SyncOutcome
from .sync_store import SqlSyncStore
from .webhooks import construct_event, is_known, sign_test_event

__all__ = [
    "ApiError",
    "AuthenticationError",
    "ConflictError",
    "Created",
    "CursorStore",
    "Environment",
    "EventPage",
    "Exchange",
    "ExchangeResult",
    "InsufficientBalanceError",
    "InvalidRequestError",
    "Mode",
    "NoAnswerError",
    "NotFoundError",
    "OrderExistsError",
    "PermissionDeniedError",
    "RateLimitError",
    "Receiver",
    "ServerError",
    "SqlSyncStore",
    "Sync",
    "SyncOutcome",
    "Waybill",
    "WaybillError",
    "WebhookError",
    "__version__",
    "construct_event",
    "indian_phone",
    "is_known",
    "sign_test_event",
]
