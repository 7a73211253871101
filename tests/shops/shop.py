"""A shop as a black box: a program with a command line, one HTTP route, and settings in its environment."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from stack import ORDER_API, Business, Endpoint, eventually, exchange, new_database
from wires import Receiver, RequestTap, StatementTap, Steps, Webhook, Webhooks, Wire, send

#: Longer than any command takes, also on a busy machine.
COMMAND_SECONDS = 60
#: Short, for tests that wait for the lease of a process that they have killed, or for a service that is down.
QUICK = {"REQUEST_TIMEOUT_SECONDS": "4", "LEASE_SECONDS": "8"}


@dataclass(frozen=True)
class Program:
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


#: The folder that `test.sh` fills.
FOLDER = Path(os.environ["SHOPS"])
PROGRAMS = {
    "actix": Program((str(FOLDER / "shop"),)),
    "express": Program(("node", str(FOLDER / "shop.mjs"))),
    "django": Program((sys.executable, str(FOLDER / "shop.py")), environment=(("PYTHONPATH", str(FOLDER / "python")),)),
}


@dataclass(frozen=True)
class Result:
    """What a command did: its exit status and its output. A killed command has the status -9."""

    status: int
    said: str

    @property
    def delivery(self) -> str | None:
        """The tracking URL, if the command created or found the delivery."""
        found = re.search(r"delivery (?:created|exists already), (\S+)", self.said)
        return found[1] if found and self.status == 0 else None

    @property
    def in_progress(self) -> bool:
        return self.status == 0 and "another attempt is in progress" in self.said


@dataclass(frozen=True)
class Shown:
    """A line of `show`."""

    sync_status: str
    status: str
    tracking_url: str
    error: str


class Shop:
    """One of the shops with its own business, endpoint and database."""

    def __init__(self, program: Program, business: Business) -> None:
        self.program, self.business = program, business
        self.webhooks = Webhooks()
        self.endpoint: Endpoint = business.new_endpoint(self.webhooks.url)
        self.database = new_database()
        self.steps = Steps()
        self._wire = self._database_wire(self.steps)
        self._serving: subprocess.Popen[str] | None = None
        self.output: list[str] = []

    def close(self) -> None:
        self.stop()
        self.webhooks.close()
        self._wire.close()

    def _database_wire(self, steps: Steps) -> Wire:
        address = urlsplit(self.database)
        return Wire(str(address.hostname), int(address.port or 0), lambda: StatementTap(steps))

    def _behind(self, wire: Wire) -> str:
        return self.database.replace(f":{urlsplit(self.database).port}/", f":{wire.port}/")

    def start(self, *arguments: str, **settings: str) -> subprocess.Popen[str]:
        settings = {
            "DATABASE__URL": self.database,
            "BASE_URL": f"{ORDER_API}/v1",
            "API_KEY": self.business.key,
            "WEBHOOK_SECRET": self.endpoint.secret,
            "NAME": "suite",
            "REQUEST_TIMEOUT_SECONDS": "30",
            "LEASE_SECONDS": "60",
            **settings,
        }
        environment = {f"WAYBILL_{name}": text for name, text in settings.items()}
        return subprocess.Popen(
            # It ends with the suite.
            ["setpriv", "--pdeathsig", "KILL", "--", *self.program.command, *arguments],
            env={"PATH": os.environ["PATH"], **dict(self.program.environment), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, **settings: str) -> Result:
        return self._result(self.start(*arguments, **settings))

    def run_until(self, step: int, *arguments: str, after_answer: bool = False, to: Receiver | None = None) -> Result:
        """Runs a command, and kills it before its message number `step` reaches the database or Waybill."""
        steps, started = Steps(after_answer=after_answer, to=to), threading.Event()
        process: subprocess.Popen[str]

        def kill() -> None:
            started.wait()
            process.kill()

        steps.arm(step, kill)
        waybill = urlsplit(ORDER_API)
        network = Wire(str(waybill.hostname), int(waybill.port or 80), lambda: RequestTap(steps))
        database = self._database_wire(steps)
        try:
            places = {"DATABASE__URL": self._behind(database), "BASE_URL": f"http://127.0.0.1:{network.port}/v1"}
            process = self.start(*arguments, **places, **QUICK)
            started.set()
            return self._result(process)
        finally:
            network.close()
            database.close()

    def _result(self, process: subprocess.Popen[str]) -> Result:
        try:
            said, _ = process.communicate(timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
            raise AssertionError(f"{process.args!r} did not end: {said}") from None
        self.output.append(said)
        return Result(process.returncode, said)

    def order(self, reference: str, **settings: str) -> Result:
        return self.run("order", reference, "prepaid", **settings)

    def sync(self, reference: str, **settings: str) -> Result:
        return self.run("sync", reference, **settings)

    def shown(self, reference: str) -> Shown | None:
        """The order, or None if the shop does not have it."""
        for line in self.run("show", reference).said.splitlines():
            fields = re.split(r" {2,}", line.strip(), maxsplit=4)
            if fields[0] == reference and len(fields) == 5:
                return Shown(*fields[1:])
        return None

    def serve(self) -> None:
        """Starts the receiver of webhooks, behind a proxy to its database."""
        self.steps.arm(None)
        process = self.start("serve", "127.0.0.1:0", DATABASE__URL=self._behind(self._wire))
        self._serving = process
        assert process.stdout
        read: list[str] = []
        for line in process.stdout:
            read.append(line)
            if found := re.search(r"receiving webhooks at (\S+)", line):
                self.receiver_url = found[1]
                break
        else:
            raise AssertionError(f"the shop does not serve: {''.join(read)}")
        threading.Thread(target=self._read, args=[process], daemon=True).start()
        # Some announce their address before they handle signals.
        eventually(self._answers, "an answer of the shop")

    def _answers(self) -> bool:
        try:
            exchange("GET", self.receiver_url, b"", {})
        except OSError:
            return False
        return True

    def _read(self, process: subprocess.Popen[str]) -> None:
        """Reads the whole log, so that the program never blocks on its output."""
        assert process.stdout
        with process.stdout:
            self.output.extend(process.stdout)

    @property
    def is_serving(self) -> bool:
        return self._serving is not None and self._serving.poll() is None

    def kill_at(self, step: int) -> None:
        """Kills the receiver before its message number `step` from now on reaches the database."""
        process = self._serving
        assert process

        def kill() -> None:
            process.kill()
            process.wait()

        self.steps.arm(step, kill)

    def stop(self) -> None:
        """Stops the receiver as an operator does."""
        if self._serving and self.is_serving:
            self._serving.send_signal(signal.SIGTERM)
            assert self._serving.wait(COMMAND_SECONDS) == 0
        self._serving = None

    @contextmanager
    def following(self) -> Iterator[None]:
        """Runs `follow` until the end of the block."""
        process = self.start("follow")
        try:
            yield
            assert process.poll() is None, process.communicate()[0]
        finally:
            process.kill()
            self.output.append(process.communicate()[0])

    def send(self, webhook: Webhook) -> int | None:
        return send(self.receiver_url, webhook)

    def shows(self, reference: str, status: str) -> bool:
        shown = self.shown(reference)
        return shown is not None and shown.status == status

    def until_shown(self, reference: str, status: str, pause: float = 0.4) -> None:
        """The pause is long, because each look starts a process."""
        eventually(lambda: self.shows(reference, status), f"{status} of {reference}", pause=pause)
