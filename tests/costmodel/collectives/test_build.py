"""Schedules of many ranks stay small."""

import pytest

from costmodel.collectives.build import schedule_of
from tests.costmodel.collectives.cases import MIB, best_of
from tests.costmodel.collectives.schedule_cases import holds


@pytest.mark.slow
def test_a_thousand_ranks_stay_small() -> None:
    for ranks, algorithm in ((1024, "radix"), (1021, "exchange")):
        plan = best_of(algorithm, "all_reduce", ranks, MIB, max_peers=16)  # type: ignore[arg-type]
        schedule = schedule_of(plan)
        columns = [getattr(schedule, name) for name in ("round", "sender", "receiver", "chunk", "circuit")]
        assert sum(column.nbytes for column in columns) <= 16 * len(schedule)
        assert len(schedule) <= 2 * ranks * (ranks - 1)
        holds(plan, MIB)
