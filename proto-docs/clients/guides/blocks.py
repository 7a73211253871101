"""The code blocks of the guides for integrators and of the packages' READMEs, and who runs which."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
INTEGRATORS = CLIENTS.parent / "integrators"

#: The pages in the order in which an integrator follows them.
GUIDES = tuple(
    INTEGRATORS / f"{name}.md" for name in ("first-order", "webhooks", "never-twice", "catching-up", "go-live")
)
README = {
    "Python": CLIENTS / "python/README.md",
    "TypeScript": CLIENTS / "typescript/README.md",
}
#: The one that takes longest first.
LANGUAGES = ("Python", "Rust", "TypeScript", "curl")
#: The language of a block of code. Others are for everybody: commands, and outputs, which have no language.
FENCES = {"ts": "TypeScript", "python": "Python", "rust": "Rust"}
#: Samples of data.
DATA = frozenset({"json"})
#: Code without the packages: services/portal-web/tests/samples.test.ts runs it.
RUN_BY_THE_PORTAL = {
    INTEGRATORS / "webhook-reference.md": {"js", "python", "php"},
    INTEGRATORS / "other-languages.md": {"php", "sh"},
}


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    #: As after the three backticks.
    fence: str
    #: The language that the section is for, if it is for one.
    section: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def file(self) -> str | None:
        """The name in the first line of a block to save: `// order.mjs`."""
        found = re.match(r"(?://|#) ([\w/-]+\.(?:mjs|py|rs))\n", self.text)
        return found[1] if found and self.fence in FENCES else None

    def is_for(self, language: str) -> bool:
        if self.fence not in {*FENCES, "sh", ""}:
            return False
        if self.section or self.fence in FENCES:
            return language in {self.section, FENCES.get(self.fence)}
        # What the programs of the packages print.
        return self.fence != "" or language != "curl"


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    section, level = None, 0
    fence, start, lines = None, 0, list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if fence is not None:
            if line.rstrip() == "```":
                found.append(Block(page, start, fence, section, "\n".join(lines) + "\n"))
                fence = None
            lines.append(line)
        elif line.startswith("```"):
            fence, start, lines = line[3:].strip(), number, []
        elif (heading := re.match(r"(#+) (.*)", line)) and (section is None or len(heading[1]) <= level):
            section = next(
                (name for name in LANGUAGES if re.search(rf"\b{name}\b", heading[2])),
                None,
            )
            level = len(heading[1])
    return found


def guides_for(language: str) -> list[Block]:
    return [block for page in GUIDES for block in blocks(page) if block.is_for(language)]


def readme_for(language: str) -> list[Block]:
    # Its title names the language.
    return [block for block in blocks(README[language]) if block.fence not in DATA]


def runs() -> dict[str, tuple[str, list[Block]]]:
    """Each run's language and blocks, by its name."""
    guides = {f"guides, {language}": (language, guides_for(language)) for language in LANGUAGES}
    return {
        **guides,
        **{f"README, {language}": (language, readme_for(language)) for language in README},
    }


def not_run() -> list[str]:
    """The blocks that no test runs, and the files that no command uses."""
    all_blocks = [block for page in [*sorted(INTEGRATORS.glob("*.md")), *README.values()] for block in blocks(page)]
    selected = {block for _, chosen in runs().values() for block in chosen}
    missing = [
        f"{block}: no test runs this block"
        for block in all_blocks
        if block not in selected and block.fence not in DATA | RUN_BY_THE_PORTAL.get(block.page, set())
    ]
    for name, (_, chosen) in runs().items():
        missing += [f"{block}: in {name}, nothing uses {block.file}" for block in unused_files(chosen)]
        missing += [
            f"{block}: begin this code with its file's name"
            for block in chosen
            if block.fence in FENCES and not block.file
        ]
    return missing


def unused_files(chosen: list[Block]) -> list[Block]:
    """Files that no command names, directly or through another file that does."""
    files = {block: Path(block.file).stem for block in chosen if block.file}
    used = [block.text for block in chosen if block.fence == "sh"]
    while reached := [block for block, stem in files.items() if any(_names(text, stem) for text in used)]:
        for block in reached:
            del files[block]
        used += [block.text for block in reached]
    return list(files)


def _names(text: str, stem: str) -> bool:
    if stem == "lib":
        return "use shop::" in text
    return (
        re.search(
            rf"(?<![\w-]){re.escape(stem)}(\.mjs|\.py|:app| import )|--bin {stem}\b",
            text,
        )
        is not None
    )
