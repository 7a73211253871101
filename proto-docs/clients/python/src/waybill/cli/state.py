"""What `listen` keeps between runs: its signing secret and its place in the feed, as `npx waybill` does."""

from __future__ import annotations

import atexit
import base64
import hashlib
import json
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Optional

from ..webhooks import SigningSecret

#: Longer than a program of npx needs to notice that npx was killed.
_LOCK_WAIT_S, _LOCK_PAUSE_S = 3.0, 0.1


class LocalError(Exception):
    """What went wrong on this machine."""


def folder() -> Path:
    variables = os.environ
    base = variables.get("XDG_STATE_HOME") or variables.get("LOCALAPPDATA") or Path.home() / ".local" / "state"
    path = Path(variables.get("WAYBILL_STATE_DIRECTORY") or Path(base) / "waybill")
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def listen_secret() -> str:
    """The secret that `listen` signs with. It is made once, so that the receiver's configuration stays valid."""
    path = folder() / "secret"
    if not path.exists():
        written = _write_private(path, "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode())
        try:
            # Fails if another process was faster; its secret is the one that counts.
            os.link(written, path)
        except FileExistsError:
            pass
        finally:
            written.unlink()
    text = path.read_text(encoding="ascii").strip()
    try:
        SigningSecret(text)
    except ValueError:
        raise LocalError(f"The file {path} contains no signing secret. Delete it to make another one.") from None
    return text


class Place:
    """The place of one listener in the feed: of its service, its key, its receiver and its kinds of events."""

    def __init__(self, *names: str) -> None:
        # A digest, because the names contain the key.
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
        self.path = folder() / f"place-{digest}.json"
        self.cursor: Optional[str] = None
        #: Events after the cursor that have ended.
        self.done: frozenset[str] = frozenset()
        #: The failed attempts of each event that is not done, so that their numbers and pauses go on after a restart.
        self.attempts: Mapping[str, int] = {}
        #: When a former run last saved its place.
        self.saved_at: Optional[datetime] = None
        if not self.path.exists():
            return
        self.saved_at = datetime.fromtimestamp(self.path.stat().st_mtime, timezone.utc)
        try:
            saved = json.loads(self.path.read_bytes())
            self.cursor, self.done = saved["cursor"], frozenset(saved["done"])
            self.attempts = dict(saved.get("attempts", {}))
        except (ValueError, LookupError, TypeError):
            raise LocalError(f"The file {self.path} is damaged. Delete it to begin with new events.") from None

    def forget(self) -> None:
        self.cursor, self.done, self.attempts = None, frozenset(), {}

    def save(self, cursor: Optional[str], done: Sequence[str], attempts: Mapping[str, int]) -> None:
        # A crash leaves the former or the new place, never half of one.
        place = {"cursor": cursor, "done": done, "attempts": attempts}
        _write_private(self.path, json.dumps(place)).replace(self.path)

    def lock(self) -> None:
        """Refuses a second `listen` with the same place.

        Each process writes a file of its own and then looks for others, so of two that start at once at least one sees
        the other. It waits a moment, because the former one may be ending.
        """
        own = Path(f"{self.path}.{os.getpid()}.lock")
        own.touch(mode=0o600)
        atexit.register(own.unlink, missing_ok=True)
        until = time.monotonic() + _LOCK_WAIT_S
        while other := self._other():
            if time.monotonic() >= until:
                raise LocalError(f"Another listen forwards the same events ({other}). Stop it first.")
            time.sleep(_LOCK_PAUSE_S)

    def _other(self) -> Optional[str]:
        """Another process with this place. Removes the files of those that have ended."""
        for other in self.path.parent.glob(f"{self.path.name}.*.lock"):
            pid = int("0" + re.sub(r"[^0-9]", "", other.suffixes[-2]))
            if pid == os.getpid():
                continue
            if _is_listening(pid):
                return f"process {pid}, {other}"
            other.unlink(missing_ok=True)
        return None


def _is_listening(pid: int) -> bool:
    try:
        # A killed process may not have been collected yet, and another program may have got its id.
        return b"listen" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return _is_running(pid)


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":
        # There, os.kill would end the process.
        import ctypes  # noqa: PLC0415 - only there

        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, pid)
        ctypes.windll.kernel32.CloseHandle(handle)
        return bool(handle)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _write_private(path: Path, text: str) -> Path:
    """Writes a file next to the path, with mode 0600."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    return Path(name)
