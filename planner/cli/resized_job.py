"""What became of a running job that asked for more or fewer accelerators, in words."""

from collections.abc import Iterator
from typing import Any

from costmodel.wording import counted
from planner.cli.output import console, plain, print_json

PATIENCE_S = 30.0
"""for an answer: a new kind of job is expanded first"""


def print_resized(job: str, found: dict[str, Any], *, as_json: bool) -> None:
    """Print the answer of a service about a job."""
    if as_json:
        print_json(found)
        return
    for line in _lines(job, found["decisions"]):
        console().print(plain(line), soft_wrap=True)


def _lines(job: str, decisions: list[dict[str, Any]]) -> Iterator[str]:
    if not any(each["job"] == job for each in decisions):
        yield f"{job} goes on as it is"
    for each in decisions:
        if each["d"] == "move":
            held, before = each["devices"], each["gives_back"]
            yield f"{each['job']} goes on with {counted(len(held), 'accelerator')}"
            for what, names, others in (("new", held, before), ("given back", before, held)):
                if changed := [name for name in names if name not in {*others}]:
                    yield f"{what}: {', '.join(changed)}"
        elif each["d"] == "wait":
            yield f"{each['job']} waits ({each['tag']}): {each['because']}"
        elif each["d"] == "start":
            yield f"{each['job']} starts on {', '.join(each['devices'])}"
