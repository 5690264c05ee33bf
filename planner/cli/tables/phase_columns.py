"""What tells candidates of one mapping apart: a setting of their own in the first phase, and their blocks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.cli.tables.jobs_table import collectives

if TYPE_CHECKING:
    from planner.fabrics.problem import JobOptions


OWN = "own in "
"""how the name of a column of such settings begins"""


def phase_columns(options: "JobOptions", rows: Sequence[int]) -> dict[str, list[str]]:
    """By name; {} where no row has a setting of its own in the first phase of its workload."""
    own = [bool(options.candidates.has_phases[row]) for row in rows]
    if not any(own):
        return {}
    first, last = options.job.workload.phases[0], options.job.workload.phases[-1]
    return {
        f"{OWN}{first}": [_own(options, row, last) if is_own else "-" for row, is_own in zip(rows, own, strict=True)]
    }


def block_column(options: "JobOptions", rows: Sequence[int], columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """By name; {} where rows that read alike in these columns have the same block."""
    blocks = [str(options.candidates.configuration(row).block) for row in rows]
    shown = list(zip(*columns.values(), strict=True))
    return {"block": blocks} if len({*zip(shown, blocks, strict=True)}) > len({*shown}) else {}


def _own(options: "JobOptions", row: int, last: str) -> str:
    """tp ring w4, 8 units; and units of the last phase where these are others."""
    before, after = options.candidates.configuration(row).by_phase
    text = collectives(options.candidates.in_first_phase(), row)
    if before.memory_units is None:
        return text
    others = "" if after.memory_units == before.memory_units else f", {after.memory_units} in {last}"
    return f"{text}, {before.memory_units} units{others}"
