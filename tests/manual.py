"""Tutorials of the manual, run: files are written, commands and Python are executed, transcripts compared.

    python -m tests.manual            # writes the transcripts anew, as the commands print them now

A fenced block is a file (`title="rack.yaml"`), commands (`sh`), a transcript (`text` that begins with `$ planner`: what
the command prints), Python, or what the Python before it prints (`output`). Progress and wall times are left out of
what is compared.
"""

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from planner.cli import main
from tests.paths import ROOT

MANUAL = ROOT / "planner" / "docs"
PAGES = (
    *sorted((MANUAL / "tutorials").glob("*.md")),
    MANUAL / "commands.md",
    MANUAL / "accuracy.md",
    MANUAL / "freedoms.md",
)
"""with transcripts"""
_BLOCK = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)
_PROGRESS = re.compile(r"^\s+[\d.]+ m?s\s.*\n", re.MULTILINE)
_WALL_TIME = re.compile(r"(( · |found in |, )[\d.]+ (m?s|min)\b(?=$| · ))|\s+[\d.]+ s$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    kind: str
    title: str
    text: str
    span: tuple[int, int]
    """of its text in the page"""


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    text = page.read_text("utf-8")
    return [Block(m["kind"], m["title"] or "", m["text"], m.span("text")) for m in _BLOCK.finditer(text)]


def run(page: Path, folder: Path) -> Iterator[tuple[Block, str]]:
    """Execute a page in a folder; each transcript with what its command, or its Python, prints now."""
    (folder / "instances").symlink_to(ROOT / "instances")
    names: dict[str, object] = {"__name__": "manual"}
    out = io.StringIO()
    for block in blocks(page):
        if block.title:
            (folder / block.title).write_text(block.text, "utf-8")
        elif block.kind == "sh":
            for line in block.text.splitlines():
                printed(line)
        elif block.text.startswith("$ "):
            command = block.text.partition("\n")[0]
            yield block, f"{command}\n{printed(command.removeprefix('$ '))}"
        elif block.kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.text, str(page), "exec"), names)
        elif block.kind == "output":
            yield block, out.getvalue()


def printed(line: str) -> str:
    """What a command of the planner prints, notices of stderr first; it must succeed."""
    program, *arguments = shlex.split(line)
    assert program == "planner", line
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = main(arguments)
    assert code == 0, f"{line}: exit code {code}\n{errors.getvalue()}"
    notices = [each for each in errors.getvalue().splitlines() if each.startswith("notice: ")]
    shown = (each.rstrip() for each in _PROGRESS.sub("", out.getvalue()).splitlines())
    return "\n".join([*notices, *shown]) + "\n"


def without_times(text: str) -> list[list[str]]:
    """Words of each line, without wall times."""
    return [line.split() for line in _WALL_TIME.sub("", text).splitlines()]


def write(page: Path) -> None:
    """Write the transcripts of a page anew."""
    text = page.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block, now in reversed(list(run(page, Path(folder)))):
            text = text[: block.span[0]] + now + text[block.span[1] :]
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    for page in PAGES:
        write(page)
