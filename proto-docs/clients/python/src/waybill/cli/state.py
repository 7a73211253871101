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
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from ..webhooks import SigningSecret


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
        self._path = folder() / f"place-{digest}.json"
        self.cursor: Optional[str] = None
        #: Events after the cursor that have ended.
        self.done: frozenset[str] = frozenset()
        if not self._path.exists():
            return
        try:
            saved = json.loads(self._path.read_bytes())
            self.cursor, self.done = saved["cursor"], frozenset(saved["done"])
        except (ValueError, LookupError, TypeError):
            raise LocalError(f"The file {self._path} is damaged. Delete it to begin with new events.") from None

    def forget(self) -> None:
        self.cursor, self.done = None, frozenset()

    def save(self, cursor: Optional[str], done: Sequence[str]) -> None:
        # A crash leaves the former or the new place, never half of one.
        _write_private(self._path, json.dumps({"cursor": cursor, "done": done})).replace(self._path)

    def lock(self) -> None:
        """Refuses a second `listen` with the same place.

        Each process writes a file of its own and then looks for others, so of two that start at once at least one sees
        the other.
        """
        own = Path(f"{self._path}.{os.getpid()}.lock")
        own.touch(mode=0o600)
        atexit.register(own.unlink, missing_ok=True)
        for other in self._path.parent.glob(f"{self._path.name}.*.lock"):
            pid = int("0" + re.sub(r"[^0-9]", "", other.suffixes[-2]))
            if pid == os.getpid():
                continue
            if _is_running(pid):
                raise LocalError(f"Another listen forwards the same events (process {pid}, {other}). Stop it first.")
            other.unlink(missing_ok=True)


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
