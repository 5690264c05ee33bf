"""What an explanation says."""

from dataclasses import dataclass
from typing import Literal

Tag = Literal[
    "admitted",
    "impossible alone",
    "does not fit beside this plan",
    "worth less",
    "undecided in time",
]


@dataclass(frozen=True)
class Statement:
    """One sentence; `is_verified` where a solve or a count of the instance proves it."""

    text: str
    is_verified: bool = True


@dataclass(frozen=True)
class Explanation:
    """Why a job is in a plan or not, and what would change it.

    `cost` is what admitting the job takes from the first objective, in its unit: the most it takes, where the
    time did not suffice for the exact number, and None where it is not known.
    """

    job: str
    tag: Tag
    headline: str
    statements: tuple[Statement, ...]
    cost: float | None = None
    wall_time_s: float = 0.0
