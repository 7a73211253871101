"""Sends a call, repeats it where that is safe, and turns answers into values or errors."""

from __future__ import annotations

from ._call import Answer, Attempts, Call, Settings
from ._http import exchange
from .errors import WaybillError


class Transport:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def send(self, call: Call) -> Answer:
        attempts = Attempts(self.settings, call)
        while True:
            timeout_s = attempts.begin()
            outcome = exchange(call.method, attempts.url, attempts.headers(), attempts.body, timeout_s)
            read = attempts.read(outcome)
            if not isinstance(read, WaybillError):
                return read
            pause = attempts.pause_after(read)
            if pause is None:
                raise read
            self.settings.environment.sleep(pause)
