"""The packed wheel in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .support import TestCase

CLIENT = Path(__file__).resolve().parents[1]
#: `make sdk` packs it.
PACKED = CLIENT.parents[2] / "target/sdk"


def run(*command: object, folder: str, **environment: str) -> str:
    # Without PYTHONPATH, which names the sources.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class Wheel(TestCase):
    def test_runs_in_an_empty_folder(self) -> None:
        folder = self.enter(TemporaryDirectory())
        [wheel] = PACKED.glob("*.whl")
        run(sys.executable, "-m", "venv", "--without-pip", "installed", folder=folder)
        python = f"{folder}/installed/bin/python"
        run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, folder=folder)
        test = CLIENT / "tests" / "test_webhooks.py"
        run(python, "-W", "error", "-m", "unittest", test.name, folder=str(test.parent))
        self.assertIn("listen", run(f"{folder}/installed/bin/waybill", "--help", folder=folder))
        listed = run(python, "-m", "zipfile", "--list", wheel, folder=folder)
        for part in ("waybill/py.typed", "waybill/schema.pyi", "waybill/django/migrations/0001_initial.py"):
            self.assertIn(part, listed)
