"""What `listen` keeps on this machine: its signing secret, which never changes, and its cursors."""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import Optional

from ..webhooks import SigningSecret


def folder() -> Path:
    chosen = os.environ.get("WAYBILL_STATE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "waybill"


def signing_secret() -> str:
    """The secret of this user's listeners, made when it is first needed."""
    path = folder() / "signing-secret"
    if not path.exists():
        text = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        written = _write_private(path, text)
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
        raise OSError(f"{path} contains no signing secret; delete it to make another one") from None
    return text


class Cursor:
    """The place of one listener: of its key, its service, its receiver and its kinds of events."""

    def __init__(self, *identity: str) -> None:
        # A digest, because the identity contains the key.
        digest = hashlib.sha256("\n".join(identity).encode()).hexdigest()[:32]
        self._path = folder() / f"cursor-{digest}"

    def load(self) -> Optional[str]:
        try:
            return self._path.read_text(encoding="ascii").strip() or None
        except FileNotFoundError:
            return None

    def save(self, cursor: str) -> None:
        # A crash leaves the former or the new cursor, never half of one.
        _write_private(self._path, cursor).replace(self._path)


def _write_private(path: Path, text: str) -> Path:
    """Writes a file next to the path, with mode 0600."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    return Path(name)
