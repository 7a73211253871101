"""The Containerfile, without an engine: what it must say, and that all that it copies is handed in and there."""

import re
from fnmatch import fnmatch

from manifests import DEPLOY

ROOT = DEPLOY.parent
PROGRAMS = ["key-management", "order-api", "portal-api", "wallet", "webhook-dispatcher"]


def text() -> str:
    return (DEPLOY / "images/Containerfile").read_text()


def ignored() -> str:
    return (ROOT / ".dockerignore").read_text()


def _stages(containerfile: str) -> dict:
    """The instructions of each stage, by its name; those before the first under no name."""
    joined = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", containerfile, flags=re.M))
    stages, name = {"": []}, ""
    for line in filter(None, (line.strip() for line in joined.splitlines())):
        begins = re.fullmatch(r"FROM (\S+) AS (\S+)", line)
        if begins:
            name = begins.group(2)
            stages[name] = []
        stages[name].append(" ".join(line.split()))
    return stages


def checks(containerfile=None, dockerignore=None):
    stages = _stages(containerfile or text())
    let_in = [line[1:] for line in (dockerignore or ignored()).splitlines() if line.startswith("!")]
    faults = []
    for line in stages[""]:
        tag = line.rpartition("/")[2].partition(":")[2]
        if line.startswith("ARG") and "IMAGE" in line and tag in ("", "latest"):
            faults.append(f"{line}: no version")
    if "USER 65532:65532" not in stages.get("base", []):
        faults.append("the base names no user")
    if not stages.get("base", [""])[0].startswith("FROM scratch"):
        faults.append("the base is not empty")
    for program in PROGRAMS:
        lines = stages.get(program, [])
        for wanted in (f"FROM base AS {program}", f'ENTRYPOINT ["/usr/bin/{program}"]', f"COPY --from=programs /programs/{program} /usr/bin/{program}"):
            if wanted not in lines:
                faults.append(f"{program}: there is no {wanted}")
        if not any(line.startswith("HEALTHCHECK") and line.endswith(f'CMD ["/usr/bin/{program}", "health"]') for line in lines):
            faults.append(f"{program} is not asked for its health")
        if any(line.startswith("USER") for line in lines):
            faults.append(f"{program} has another user")
    for lines in stages.values():
        for line in lines:
            if not line.startswith("COPY") or "--from=" in line:
                continue
            for source in line.split()[1:-1]:
                if not (ROOT / source).exists():
                    faults.append(f"{source} is not there")
                if not any(fnmatch(source, pattern) or source.startswith(f"{pattern}/") for pattern in let_in):
                    faults.append(f".dockerignore keeps {source} out")
    return faults


# How it is broken in tests (what is replaced, by what), and a word of what is said about it.
BROKEN = [
    ("rust:1.95.0-slim-bookworm", "rust", "no version"),
    ("USER 65532:65532", "", "names no user"),
    ("FROM scratch AS base", "FROM debian:12 AS base", "is not empty"),
    ('ENTRYPOINT ["/usr/bin/wallet"]', "", "wallet: there is no ENTRYPOINT"),
    ('CMD ["/usr/bin/wallet", "health"]', 'CMD curl', "wallet is not asked"),
    ("FROM base AS wallet\n", "FROM base AS wallet\nUSER 0\n", "wallet has another user"),
    ("COPY crates crates", "COPY crate crate", "crate is not there"),
    ("COPY crates crates", "COPY proto-docs proto-docs", ".dockerignore keeps proto-docs out"),
]
