"""Follows a page as its reader does: saves its files, runs its commands, and looks at what they print."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable
from urllib.parse import urlsplit

from blocks import CLIENTS, Block

#: Longer than any takes, also on a busy machine.
COMMAND_MAX_S = 300.0
OUTPUT_MAX_S = 120.0
ORIGIN = "https://api.delivery.example"
DATABASE = "postgres://localhost/shop"
PORT = "3000"
#: Commands that run until they are stopped. A receiver replaces the one before it, which has its port.
RECEIVER = re.compile(r"\breceiver\.|\bserver[.:]|--bin (receiver|server)\b")
RUNS_ON = re.compile(rf"{RECEIVER.pattern}|--forward-to|\bcatch[-_]up\b")
#: `pip` of the environment of the tests, which a reader's environment shares. Installing another takes seconds.
VENV = r"""python3 -m venv --without-pip venv
printf '#!/bin/sh\nexec venv/bin/python -m pip "$@"\n' >venv/bin/pip
chmod +x venv/bin/pip"""
MODULES = CLIENTS / "typescript/node_modules"
GUIDE_SHOP = CLIENTS.parents[1] / "crates/guide-shop"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", CLIENTS.parents[1] / "target"))
#: The programs that GUIDE_SHOP compiled from the text of the guides.
PROGRAMS = TARGET / "debug"
MYPY_CACHE = TARGET / "mypy-guides"


@dataclass
class Program:
    """A command, and what it has printed so far."""

    block: Block
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reading = threading.Thread(target=self._read)
        self.reading.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.strip())

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def stop(self) -> None:
        """As Ctrl-C does, which reaches the whole group."""
        for number in (signal.SIGINT, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(10)
                break
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                break
        self.process.wait()
        self.reading.join()


class Reader:
    def __init__(self, folder: Path, origin: str, key: str, database: str, port: int) -> None:
        self._folder, self._port = folder, port
        self._values = {
            ORIGIN: origin,
            "sk_test_…": key,
            DATABASE: database,
            PORT: str(port),
        }
        self._values["createdb shop"] = f"createdb {urlsplit(database).path.strip('/')}"
        self._programs: list[Program] = []
        self._running: list[Program] = []
        home = folder / "home"
        home.mkdir()
        # Nothing is installed from a registry: the stack serves the packages, and their tests' dependencies are here.
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": sysconfig.get_path("purelib"),
            # As in a terminal.
            "PYTHONUNBUFFERED": "1",
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "npm_config_update_notifier": "false",
            # Medusa, which its package expects, is not here.
            "npm_config_legacy_peer_deps": "true",
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
            "CARGO_NET_OFFLINE": "true",
            **servers_of(database),
        }

    @contextmanager
    def following(self) -> Iterator[Reader]:
        try:
            yield self
            for program in self._running:
                assert program.process.poll() is None, f"{program.block} ended:\n{program.output}"
        finally:
            for program in self._running:
                program.stop()

    def take(self, block: Block) -> None:
        if block.file:
            file = self._folder / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self._filled(block), "utf-8")
        elif block.fence == "sh":
            self._run(block)
        elif block.fence == "":
            self._look_for(block)
        else:
            raise AssertionError(f"{block}: a reader cannot use a block of {block.fence}")

    def check_types(self, language: str) -> None:
        if language == "TypeScript":
            self._link("@types")
            options = "--allowJs --checkJs --noEmit --strict --exactOptionalPropertyTypes --module nodenext"
            # The types of Express are not ours.
            foreign = "--skipLibCheck" if (self._folder / "server.mjs").exists() else ""
            self._check(f"node {MODULES}/typescript/bin/tsc {options} --target es2022 --types node {foreign} *.mjs")
        if language == "Python":
            options = f"--strict --cache-dir {MYPY_CACHE} --python-executable venv/bin/python"
            self._check(f"{sys.executable} -m mypy {options} *.py")
        if language == "Rust":
            # The programs were compiled with the same ones.
            added, compiled = dependencies(self._folder), dependencies(GUIDE_SHOP)
            assert added == compiled, f"{added} are not {compiled}"

    def _check(self, command: str) -> None:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_MAX_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _run(self, block: Block) -> None:
        commands = self._filled(block)
        if RUNS_ON.search(block.text):
            self._start(block, commands)
            return
        # Exported variables stay, as in a terminal.
        program = self._program(block, f"{commands}\nexport -p >session")
        try:
            code = program.process.wait(COMMAND_MAX_S)
        except subprocess.TimeoutExpired:
            program.stop()
            raise AssertionError(f"{block} does not end:\n{program.output}") from None
        program.reading.join()
        assert code == 0, f"{block} failed:\n{program.output}"

    def _start(self, block: Block, commands: str) -> None:
        if RECEIVER.search(block.text):
            for former in [one for one in self._running if RECEIVER.search(one.block.text)]:
                former.stop()
                self._running.remove(former)
        program = self._program(block, commands)
        self._running.append(program)
        if "--forward-to" in commands:
            eventually(
                lambda: "Ready: " in program.output,
                lambda: f"{block} is not ready:\n{program.output}",
            )

    def _program(self, block: Block, commands: str) -> Program:
        process = subprocess.Popen(
            ["bash", "-ec", f"[ ! -f session ] || . ./session\n{commands}"],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        program = Program(block, process)
        self._programs.append(program)
        return program

    def _look_for(self, block: Block) -> None:
        """One program has printed these lines, in this order, perhaps with others in between."""
        wanted = [_pattern(line) for line in block.text.splitlines()]

        def is_printed() -> bool:
            return any(_contains(program.lines, wanted) for program in self._programs)

        eventually(
            is_printed,
            lambda: f"{block} was not printed:\n{block.text}\n{self._printed()}",
        )

    def _printed(self) -> str:
        return "\n".join(f"--- {program.block}\n{program.output}" for program in self._programs)

    def _filled(self, block: Block) -> str:
        """With the values that a reader inserts."""
        text = re.sub(r"^npm install ([^/:\n]+)$", self._link_all, block.text, flags=re.MULTILINE)
        for written, value in self._values.items():
            text = text.replace(written, value)
        text = text.replace("python3 -m venv venv", VENV)
        text = re.sub(r"cargo run --bin (\w+)", rf"{PROGRAMS}/\1", text)
        if "ord_…" in text:
            # Of the order that was placed last.
            text = text.replace("ord_…", re.findall(r"\bord_\w+", self._printed())[-1])
        return text

    def _link_all(self, command: re.Match[str]) -> str:
        for name in command[1].split():
            self._link(name)
        return ""

    def _link(self, name: str) -> None:
        link = self._folder / "node_modules" / name
        if not link.is_symlink():
            link.symlink_to(MODULES / name)


def servers_of(database: str) -> dict[str, str]:
    """For the programs of PostgreSQL."""
    url = urlsplit(database)
    return {
        "PGHOST": url.hostname or "",
        "PGPORT": str(url.port),
        "PGUSER": url.username or "",
        "PGPASSWORD": url.password or "",
    }


def dependencies(package: Path) -> dict[str, tuple[str, list[str], bool]]:
    """For each name: the compatible versions, the features, and whether the default ones are among them."""
    manifest = (package / "Cargo.toml").resolve()
    command = [
        "cargo",
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version=1",
        f"--manifest-path={manifest}",
    ]
    packages = json.loads(subprocess.check_output(command))["packages"]
    declared = next(one for one in packages if one["manifest_path"] == str(manifest))["dependencies"]
    return {
        one["name"]: (
            "here" if one.get("path") else re.sub(r"^\^((?:0\.)*[1-9]\d*).*", r"\1", one["req"]),
            sorted(one["features"]),
            one["uses_default_features"],
        )
        for one in declared
    }


def eventually(is_true: Callable[[], bool], explain: Callable[[], str]) -> None:
    ends_at = time.monotonic() + OUTPUT_MAX_S
    while not is_true():
        assert time.monotonic() < ends_at, explain()
        time.sleep(0.05)


def _pattern(line: str) -> re.Pattern[str]:
    """`…` stands for anything, and times and durations differ."""
    text = re.escape(line.strip()).replace("…", ".*")
    text = re.sub(r"\d\d:\d\d:\d\d", r"\\d\\d:\\d\\d:\\d\\d", text)
    return re.compile(re.sub(r"in\\ \d+\\ ms", r"in\\ \\d+\\ ms", text))


def _contains(lines: list[str], wanted: list[re.Pattern[str]]) -> bool:
    rest = iter(list(lines))
    return all(any(pattern.fullmatch(line) for line in rest) for pattern in wanted)
