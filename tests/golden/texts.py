"""What an entry is made of: texts from commands run in this process, with what may differ between runs masked."""

import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[2]
INSTANCES = ROOT / "instances"
FABRICS = ("fat_tree", "memory_ring", "divided_ports", "lightpath", "ocs_rail", "torus", "sipac", "sipam")
MASKED_KEYS = {
    "wall_time_s": "what a search took",
    "versions": "of Python, OR-Tools, NumPy and the project",
}
"""the only fields of JSON that are masked, and why; wherever they stand"""
MASK = "..."


@dataclass(frozen=True)
class Unit:
    """What is run at once; it gives one text for each part."""

    group: str
    name: str
    do: Callable[[], Mapping[str, str]]
    is_quick: bool = False

    @property
    def path(self) -> str:
        return f"{self.group}/{self.name}"

    def texts(self) -> dict[str, str]:
        """The text of each part by its whole name, in a folder of its own in which `instances` lies."""
        with _folder():
            return {f"{self.path}: {part}": text for part, text in self.do().items()}


@contextmanager
def _folder() -> Iterator[None]:
    before, folder = Path.cwd(), tempfile.mkdtemp(prefix="golden")
    try:
        os.chdir(folder)
        Path("instances").symlink_to(INSTANCES)
        yield
    finally:
        os.chdir(before)
        shutil.rmtree(folder)


def public() -> SimpleNamespace:
    """The one place that names packages: the program of all commands, and what no command reaches."""
    from planner import InputError, Instance
    from planner.cli import main
    from planner.controller import Controller, Request, Settings

    return SimpleNamespace(main=main, InputError=InputError, Instance=Instance, Controller=Controller, Request=Request,
                           Settings=Settings)  # fmt: skip


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def command(*arguments: object) -> str:
    """What a command prints, its errors and its exit code."""
    given = [str(argument) for argument in arguments]
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["planner", *given]  # which a page tells
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = public().main(given)
        except SystemExit as stop:
            code = int(stop.code or 0)
    told = [line for line in err.getvalue().splitlines() if line.startswith(("error", "warning"))]
    return "\n".join([f"$ planner {' '.join(given)}", f"exit code {code}", *told, masked(out.getvalue())])


def file(name: str) -> str:
    """A file that a command has written, nothing where it has not."""
    path = Path(name)
    if not path.exists():
        return "no file"
    try:
        return masked(path.read_text("utf-8"))
    except UnicodeDecodeError:
        return f"bytes with SHA-256 {sha256(path.read_bytes()).hexdigest()}"


def files(folder: str) -> dict[str, str]:
    """All files of a folder by name."""
    return {str(path): file(str(path)) for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def masked(text: str) -> str:
    """JSON with a line for each value, so that two of them can be compared by `diff`; other text as it is."""
    text = text.replace(str(Path.cwd()), "HERE").replace(str(ROOT), "ROOT")
    try:
        return shown(json.loads(text))
    except ValueError:
        return text


def shown(document: Any) -> str:
    return json.dumps(_masked(document), indent=1, ensure_ascii=False)


def _masked(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: MASK if key in MASKED_KEYS else _masked(value) for key, value in document.items()}
    return [_masked(value) for value in document] if isinstance(document, list) else document


def data_of(page: str) -> str:
    """All JSON inside an HTML page."""
    found = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    return "\n".join(masked(text.replace("<\\/", "</")) for text in found) or "no data"


def write_site(fabric: str, servers: int = 4) -> None:
    """A small instance on a fabric, by `planner new` with the shipped jobs: servers so small that jobs span them."""
    size = ("--servers", 2) if fabric in ("torus", "sipac") else ("--servers", servers, "--tiles", 4)
    command("new", "--fabric", fabric, *size, "--jobs", "instances/jobs.csv", "-o", "site.yaml")


def write_served(fabric: str, servers: int = 4) -> str:
    """The path of a cluster that a controller takes: the shipped modules, as it hands out no shared appliances."""
    if fabric == "divided_ports":
        return "instances/providers/optical_hbm.yaml"
    write_site(fabric, servers=servers)
    return "site.yaml"
