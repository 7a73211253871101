"""One HTTP exchange with the standard library, within a total time."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Optional, Union
from urllib.parse import urlsplit

from ._call import ANSWER_MAX_BYTES, Reply
from ._secret import Secret
from .errors import NoAnswerError

_CHUNK_BYTES = 64 * 1024
#: The kind of an error: no host has this name.
UNKNOWN_HOST = "EAI_NONAME"


def exchange(
    method: str,
    url: str,
    headers: Mapping[str, Union[str, Secret]],
    body: Optional[bytes],
    timeout_s: float,
    answer_max_bytes: int = ANSWER_MAX_BYTES,
) -> Union[Reply, NoAnswerError]:
    """Sends one request on a connection of its own. Redirects are not followed: they would send the key elsewhere."""
    ends_at = time.monotonic() + timeout_s
    try:
        return _exchange(method, url, headers, body, ends_at, answer_max_bytes)
    except TimeoutError:
        return NoAnswerError("timeout")
    except socket.timeout:
        return NoAnswerError("timeout")
    except socket.gaierror as error:
        # Other failures of the name service pass.
        kind = UNKNOWN_HOST if error.errno == socket.EAI_NONAME else "gaierror"
        return NoAnswerError("unreachable", kind)
    except (OSError, http.client.HTTPException) as error:
        return NoAnswerError("unreachable", type(error).__name__)


def _exchange(
    method: str,
    url: str,
    headers: Mapping[str, Union[str, Secret]],
    body: Optional[bytes],
    ends_at: float,
    answer_max_bytes: int,
) -> Union[Reply, NoAnswerError]:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    with _connect(parts.scheme, host, port, ends_at) as sock:
        connection = http.client.HTTPConnection(host, port)
        # As with its own sockets, http.client calls sendall, makefile and close.
        connection.sock = _TimedSocket(sock, ends_at)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value.expose() if isinstance(value, Secret) else value)
        if body is not None:
            connection.putheader("content-length", str(len(body)))
        connection.putheader("connection", "close")
        connection.endheaders(body)
        with connection.getresponse() as response:
            answer = bytearray()
            while chunk := response.read1(_CHUNK_BYTES):
                answer += chunk
                if len(answer) > answer_max_bytes:
                    return NoAnswerError("unusable_answer")
            # http.client reports only some of the answers that were cut.
            if response.getheader("content-length", str(len(answer))) != str(len(answer)):
                return NoAnswerError("unreachable")
            fields = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, fields, bytes(answer))


def _connect(scheme: str, host: str, port: int, ends_at: float) -> socket.socket:
    """Tries each address of the host within the time that is left."""
    failed: OSError = OSError("the host has no address")
    for _, _, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        try:
            sock = socket.create_connection((str(address[0]), port), _left(ends_at))
        except OSError as error:
            failed = error
            continue
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if scheme != "https":
            return sock
        try:
            return _tls().wrap_socket(sock, server_hostname=host)
        except BaseException:
            sock.close()
            raise
    raise failed


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _left(ends_at: float) -> float:
    left = ends_at - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _TimedSocket:
    """A socket whose whole use ends at one time; a socket's own timeout begins again with each byte."""

    def __init__(self, sock: socket.socket, ends_at: float) -> None:
        self._sock, self._ends_at = sock, ends_at

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(_left(self._ends_at))
        self._sock.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._sock, self._ends_at))

    def close(self) -> None:
        """Leaves the socket open: http.client closes its connection before the answer is read."""


class _TimedReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, ends_at: float) -> None:
        self._sock, self._ends_at = sock, ends_at

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(_left(self._ends_at))
        return self._sock.recv_into(buffer)
