"""Held jobs of Slurm as requests: what job_submit.lua wrote down, and what users say in --comment."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from planner.controller.settings import Request
from planner.integrations.slurm.config import SlurmConfig
from planner.integrations.slurm.hooks import job_name
from planner.integrations.slurm.rows import JobRow
from planner.model.errors import InputError

MARK = "photonplan:"
_WRITTEN = re.compile(
    r"(?P<asks>photonplan:nodes=(?P<min>\d{1,10})-(?P<max>\d{1,10}):gpus=(?P<gpus>\d{1,6})"
    r":type=(?P<type>[A-Za-z0-9_][A-Za-z0-9_.-]*))"
    r"(?::at=(?P<at>[0-9a-f]{12}))?(?P<off>:put-off)?(?: why=(?P<why>.*))?",
    re.DOTALL,
)
_WORDS = re.compile(r"([a-z_]+)=([A-Za-z0-9_.+-]+)")
_KNOWN = ("workload", "weight", "utility", "step_at")
_PLAIN = re.compile(r"[^A-Za-z0-9 .,:()<>#/_+=-]+")
MOST_TEXT = 400
MOST_PRIORITY = 1_000_000


@dataclass(frozen=True)
class JobDescriptor:
    """Descriptor of a job of the planner, as AdminComment holds it (Slurm: job_desc)."""

    request: str
    """as job_submit.lua wrote it"""
    nodes: tuple[int, int]
    """fewest and most"""
    gpus: int
    """of each node"""
    type: str
    """name, or any"""
    at: str = ""
    """digest of the place that Slurm was told"""
    is_put_off: bool = False
    """whether the planner has put its start off until jobs that it depends on have ended"""
    why: str = ""
    """why it waits"""

    @property
    def gres(self) -> str:
        """As scontrol takes it."""
        return f"gpu:{self.type}:{self.gpus}" if self.type != "any" else f"gpu:{self.gpus}"

    def text(self, *, at: str = "", is_put_off: bool = False, why: str = "") -> str:
        """The text that is to stand there from now on."""
        tail = f":at={at}" if at else ""
        return f"{self.request}{tail}{':put-off' if is_put_off else ''}{f' why={plain(why)}' if why else ''}"


def descriptor_of(row: JobRow) -> JobDescriptor | None:
    """Descriptor that job_submit.lua wrote for a job; None for jobs that are not the planner's."""
    match = _WRITTEN.fullmatch(row.admin_comment.strip())
    if match is None:
        return None
    nodes = int(match["min"]), int(match["max"])
    return JobDescriptor(
        match["asks"], nodes, int(match["gpus"]), match["type"], match["at"] or "", bool(match["off"]),
        match["why"] or "",
    )  # fmt: skip


def plain(text: str) -> str:
    """Text that Slurm's files, shells and terminals take as it is."""
    return _PLAIN.sub(" ", text)[:MOST_TEXT].strip()


def request_of(row: JobRow, descriptor: JobDescriptor, config: SlurmConfig, num_servers: int) -> Request:
    """The request of one held job; InputError says in its user's words what is wrong with it."""
    where = f"job {row.address}"
    fewest, most = descriptor.nodes
    sizes = [count * descriptor.gpus for count in range(fewest, min(most, num_servers) + 1)]
    if not sizes or not sizes[0]:
        problem = f"{fewest} nodes of {descriptor.gpus} GPUs are asked for; there are {num_servers}"
        raise InputError(where, "nodes", problem)
    said = _said(where, row.comment)
    workload = said.pop("workload", config.default_workload)
    if workload not in config.workloads:
        known = ", ".join(config.workloads)
        raise InputError(where, "comment", f"there is no workload {workload}; there are: {known}")
    body: dict[str, Any] = {
        "name": job_name(row.job_id),
        "tenant": plain(row.account or row.user) or f"uid {row.user_id}",
        "workload": config.workloads[workload],
        "accelerators": sizes[0] if len(sizes) == 1 else sizes,
        "constraints": {"per_server": descriptor.gpus},
        "priority": max(-MOST_PRIORITY, min(MOST_PRIORITY, -row.nice)),
        "preemptible": row.can_requeue,
        "movable": row.can_requeue,
        **said,
    }
    if row.time_limit_s is not None:
        body["duration"] = f"{row.time_limit_s} s"
    try:
        return Request.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "comment"
        raise InputError(where, field, first["msg"]) from None


def _said(where: str, comment: str) -> dict[str, str]:
    """--comment 'workload=llama weight=2' by word; InputError for anything else."""
    found: dict[str, str] = {}
    for word in comment.replace(",", " ").split():
        match = _WORDS.fullmatch(word)
        if match is None or match[1] not in _KNOWN or match[1] in found:
            problem = f"{plain(word)} is not understood; give, each once: {', '.join(f'{name}=' for name in _KNOWN)}"
            raise InputError(where, "comment", problem)
        found[match[1]] = match[2]
    return found
