"""The examples of the README as one program. Run as a script, it prints them, so that linters can read them."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def examples(language: str = "python") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


if __name__ == "__main__":
    print("\n".join(examples()))
