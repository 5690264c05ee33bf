"""Schedules over circulants: nothing is lost, and they take what plans are priced at."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from costmodel.collectives import closed_forms
from costmodel.collectives.build import schedule_of
from costmodel.collectives.circulants import Strides, gather_pieces, relay_pieces
from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.simulate import simulate
from tests.costmodel.collectives.circulant_cases import MOST_PIECES, groups_and_strides

GATHERS: tuple[Collective, ...] = ("all_reduce", "reduce_scatter", "all_gather")
LIMITS = Limits(8, 8, 1e-6, 3e-6, 1e9)


@settings(max_examples=40, deadline=None)
@given(groups_and_strides(9), st.sampled_from((*GATHERS, "all_to_all")), st.floats(1.0, 1e9))
def test_schedules_do_what_they_should_in_the_time_of_their_plan(
    drawn: tuple[int, Strides], collective: Collective, message_bytes: float
) -> None:
    ranks, strides = drawn
    pieces = relay_pieces if collective == "all_to_all" else gather_pieces
    assume(pieces(ranks, strides) <= MOST_PIECES)
    kind = "circulant_relay" if collective == "all_to_all" else "circulant"
    plan = CollectivePlan(collective, kind, ranks, LIMITS, strides, (1,), (8 // len(strides),))  # type: ignore[arg-type]
    schedule = schedule_of(plan)
    assert interpret(schedule) == ()
    time_s = plan.time_s(message_bytes)
    assert simulate(schedule, LIMITS, message_bytes) == pytest.approx(time_s, rel=1e-9)
    bound = getattr(closed_forms, f"{collective}_bound_s")
    assert time_s >= bound(message_bytes, ranks, len(strides), LIMITS.alpha_s, LIMITS.link_bytes_per_s) * (1 - 1e-9)
    sent = plan.bytes_per_byte * schedule.num_chunks * ranks
    assert len(schedule) == pytest.approx(sent, rel=1e-9)
