"""Where every tensor's pages are while it is not used: the decisions, by name."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from costmodel.spec import Seconds, Spec
from planner.model import files


class TensorPages(Spec):
    """One stretch of a step in which a tensor is not used."""

    tensor: str
    """its name"""
    after: int = Field(ge=-1)
    """number of the operator after which it may leave; -1: the step starts without it"""
    pages: dict[str, int] = Field(default_factory=dict)
    """by memory"""
    kept: int = Field(default=0, ge=0)
    """pages that stay in the device's own memory"""
    remade: bool = False
    """whether it is dropped and made again"""


class JobPages(Spec):
    """All tensors of a job, by the operator after which they leave."""

    job: str
    """its name"""
    tensors: tuple[TensorPages, ...]
    """every stretch in which one is not used"""
    step_s: Seconds = 0.0
    """what the plan claims"""


class PagePlan(Spec):
    """All jobs of an instance of pages."""

    schema_version: Literal[1] = 1
    """of the file format"""
    instance: str
    """its name"""
    jobs: tuple[JobPages, ...]
    """one for each job of the instance"""

    def __getitem__(self, job: str) -> JobPages:
        """Pages of a job; KeyError where the plan has none."""
        for pages in self.jobs:
            if pages.job == job:
                return pages
        raise KeyError(job)

    @classmethod
    def load(cls, path: str | Path) -> "PagePlan":
        """Read a plan, or the plan inside what `planner pages --json` printed."""
        data = files.parse_text(files.read_text(Path(path)), str(path))
        return files.validate(cls, data if "jobs" in data and "plan" not in data else data.get("plan", data), str(path))
