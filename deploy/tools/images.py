"""Waybill's own rules for the Containerfile. hadolint and checkov have the general ones: USER, HEALTHCHECK, stages, tags."""

import re
from fnmatch import fnmatch

from manifests import DEPLOY

ROOT = DEPLOY.parent
PROGRAMS = ["key-management", "order-api", "portal-api", "wallet", "webhook-dispatcher"]
OF_PROGRAM = ["FROM base AS {0}", "COPY --from=programs /programs/{0} /usr/bin/{0}", 'ENTRYPOINT ["/usr/bin/{0}"]']


def text() -> str:
    return (DEPLOY / "images/Containerfile").read_text()


def checks(containerfile=None, dockerignore=None):
    joined = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", containerfile or text(), flags=re.M))
    lines = [" ".join(line.split()) for line in joined.splitlines() if line.strip()]
    let_in = [line[1:] for line in (dockerignore or (ROOT / ".dockerignore").read_text()).splitlines() if line.startswith("!")]
    # hadolint and checkov do not look into arguments.
    faults = [f"{line}: no version" for line in lines if re.match(r"ARG \w+_IMAGE=", line) and not re.search(r":(?!latest$)[\w.-]+$", line)]
    if "FROM scratch AS base" not in lines:
        faults.append("the stage `base` does not start from `scratch`")
    for program in PROGRAMS:
        faults += [f"there is no {wanted.format(program)}" for wanted in OF_PROGRAM if wanted.format(program) not in lines]
        if not any(line.startswith("HEALTHCHECK") and line.endswith(f'CMD ["/usr/bin/{program}", "health"]') for line in lines):
            faults.append(f"{program} has no HEALTHCHECK")
    copied = [source for line in lines if line.startswith("COPY") and "--from=" not in line for source in line.split()[1:-1]]
    faults += [f"{source} does not exist" for source in copied if not (ROOT / source).exists()]
    faults += [f".dockerignore excludes {source}" for source in copied
               if not any(fnmatch(source, pattern) or source.startswith(f"{pattern}/") for pattern in let_in)]
    return faults
