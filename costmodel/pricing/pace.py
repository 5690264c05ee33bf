"""How the steps of a workload's phases follow each other, and what those who wait for them see of it.

Axes: M mappings, C candidates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from costmodel.parallelism.mappings import Floats, Ints


@dataclass(frozen=True)
class Paced:
    """Columns of shape (C,)."""

    engine_s: Floats
    """of a step: what is neither operators nor messages: software, and waiting"""
    ttft_s: Floats
    """time to first token: from sending a prompt to the first token of its answer"""
    tpot_s: Floats
    """time per output token: between two tokens of an answer"""
    steps: Mapping[str, Floats]
    """steps of each phase in a step of the workload"""
    shares: Mapping[str, Floats]
    """the same for a mean accelerator of the job: less where only some run a phase"""
    software_s: Mapping[str, Floats]
    """after one step of each phase, software that keeps its accelerators running"""


class Pace(Protocol):
    """Which phases there are, and how a step of the workload is made of their steps."""

    @property
    def phases(self) -> tuple[str, ...]:
        """Those whose single steps it asks for."""
        ...

    def steps(self) -> dict[str, Floats]:
        """Steps of each phase in a step of the workload, shape (M,)."""
        ...

    def paced(self, step_s: Mapping[str, Floats], mapping: Ints, sent_s: Mapping[str, Floats]) -> Paced:
        """Of rows with these mappings, whose single steps take so long, by phase, without software; `sent_s` is what
        messages take of them."""
        ...
