"""What a placement of pages is asked about, wherever it comes from: steps, ways to memories, and how much they hold."""

from dataclasses import dataclass

from costmodel.dataflow.networks.rank_step import RankStep
from costmodel.dataflow.streams.placement import Link
from costmodel.dataflow.streams.program import Program
from costmodel.dataflow.streams.resident import RULES
from costmodel.dataflow.streams.simulate import Rules


@dataclass(frozen=True)
class CaseJob:
    """One device's step, and where its pages may be."""

    name: str
    program: Program
    links: tuple[Link, ...]
    """ways over which pages can go, each named after the memory that it leads to"""
    local_bytes: float = 0.0
    """of the device's own memory, for pages that stay in it while they are not used"""
    may_remake: bool = True
    """whether a tensor may be dropped and made again"""
    weight: float = 1.0
    """of its step's time in what is minimized"""


@dataclass(frozen=True)
class PageCase:
    """Jobs and the memories that they share."""

    name: str
    page_bytes: float
    capacity_bytes: dict[str, float | None]
    """of each memory; None: it is never full"""
    jobs: tuple[CaseJob, ...]
    rules: Rules

    @classmethod
    def of_rank(cls, job: str, step: RankStep) -> "PageCase":
        """One rank of a job and the second tier that it has to itself."""
        own = CaseJob(job, step.program, step.links, step.local_bytes)
        return cls(job, step.page_bytes, step.memory_bytes, (own,), RULES)
