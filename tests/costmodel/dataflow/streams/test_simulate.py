"""The streams of a step: against a run tick by tick, closed forms, and what must hold for any step."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.dataflow.streams.placement import Link, Placement, evenly, kept, local
from costmodel.dataflow.streams.program import Program
from costmodel.dataflow.streams.simulate import Rules, simulate
from costmodel.dataflow.streams.timeline import Timeline
from tests.costmodel.dataflow.streams.cases import cases, chain
from tests.oracles.mcdla import Away, Ticks

Case = tuple[Program, tuple[Link, ...], Placement]
RULES = st.builds(Rules, lookahead=st.integers(1, 3), most_leaving=st.none() | st.integers(1, 3))
ONE = Link(name="one", bandwidth_bytes_per_s=1.0)


def ticks_of(case: Case, rules: Rules) -> int:
    program, links, placement = case
    aways = [
        Away(
            each.after,
            each.before,
            [int(size) for size in placement.moved_bytes[a]],
            int(program.remake_s[a]) if placement.is_remade[a] else None,
            list(program.remade_from[a]),
        )
        for a, each in enumerate(program.absences)
    ]
    exchanges = [
        (int(time_s), bool(each.exchange and each.exchange.is_awaited))
        for time_s, each in zip(program.exchange_s, program.operators, strict=True)
    ]
    shared = [number for number, link in enumerate(links) if link.shares_collectives]
    operators = [int(time_s) for time_s in program.operator_s]
    return Ticks(operators, exchanges, aways, len(links), rules.lookahead, rules.most_leaving, shared).run()


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(case=cases(), rules=RULES)
def test_against_a_run_tick_by_tick(case: Case, rules: Rules) -> None:
    assert simulate(*case, rules).end_s == ticks_of(case, rules)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(case=cases(), rules=RULES)
def test_what_leaves_comes_back_and_nothing_is_lost(case: Case, rules: Rules) -> None:
    program, _, placement = case
    ran = simulate(*case, rules)
    there, back = ran.bytes_by_link()
    assert there.tolist() == back.tolist() == placement.moved_bytes.sum(axis=0).tolist()
    remade_bytes = program.size_bytes[placement.is_remade].sum()
    assert there.sum() + placement.kept_bytes.sum() + remade_bytes == program.size_bytes.sum()
    assert len(ran.remakes) == placement.is_remade.sum()


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(case=cases(), rules=RULES)
def test_a_stream_does_one_thing_at_a_time_and_all_in_time(case: Case, rules: Rules) -> None:
    program, _, placement = case
    ran = simulate(*case, rules)
    by_stream: dict[str, list[tuple[float, float]]] = {}
    for each in ran.intervals():
        by_stream.setdefault(each.stream, []).append((each.start_s, each.end_s))
    for intervals in by_stream.values():
        assert all(first[1] <= second[0] for first, second in pairwise(intervals))
        assert intervals[0][0] >= 0
        assert intervals[-1][1] <= ran.end_s
    assert ran.end_s >= max(ran.compute_s, ran.copy_s, ran.exchange_s)
    for copy in ran.copies:
        absence = program.absences[copy.absence]
        if copy.is_return:
            assert copy.end_s <= ran.starts_s[absence.before]
        else:
            assert copy.start_s >= ran.ends_s[absence.after]
    assert placement.is_remade.sum() == sum(1 for each in ran.intervals() if each.kind == "again")


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(case=cases(), rules=RULES, factors=st.lists(st.floats(1, 10), min_size=3, max_size=3))
def test_more_bandwidth_never_takes_longer(case: Case, rules: Rules, factors: list[float]) -> None:
    program, links, placement = case
    faster = [
        link.model_copy(update={"bandwidth_bytes_per_s": factor * link.bandwidth_bytes_per_s})
        for link, factor in zip(links, factors, strict=False)
    ]
    assert simulate(program, faster, placement, rules).end_s <= simulate(*case, rules).end_s * (1 + 1e-12)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(case=cases(), rules=RULES)
def test_layers_add_up(case: Case, rules: Rules) -> None:
    program, _, _ = case
    ran = simulate(*case, rules)
    times = ran.by_layer()
    busy_s = times.forward_s + times.backward_s + times.remake_s
    waits_s = times.waits_for_copies_s + times.waits_for_exchanges_s
    assert busy_s.sum() == pytest.approx(ran.compute_s)
    assert (busy_s + waits_s).sum() == pytest.approx(float(ran.ends_s[-1]) if len(ran.ends_s) else 0.0)
    assert times.exchange_s.sum() == pytest.approx(program.exchange_s.sum())


def run(program: Program, links: list[Link], placement: Placement, **rules: int) -> Timeline:
    return simulate(program, links, placement, Rules(**rules))


def test_kept_tensors_cost_nothing() -> None:
    program = chain([2, 3], [4, 5], [10, 10])
    assert run(program, [ONE], kept(program.size_bytes, [ONE])).end_s == 14
    assert run(program, [], kept(program.size_bytes, [])).end_s == 14


def test_two_layers_by_hand() -> None:
    """Forward ends at 4; tensor 0 leaves from 4 to 7, tensor 1 from 7 to 8; both come back by 12."""
    program = chain([2, 2], [1, 1], [3, 1])
    ran = run(program, [ONE], local(program.size_bytes, [ONE]))
    assert [(copy.absence, copy.is_return, copy.start_s, copy.end_s) for copy in ran.copies] == [
        (0, False, 4, 7), (1, False, 7, 8), (0, True, 8, 11), (1, True, 11, 12),
    ]  # fmt: skip
    assert ran.starts_s.tolist() == [0, 2, 12, 13]
    assert ran.end_s == 14


def test_remaking_pays_the_forward_time_and_fetches_what_it_is_made_from() -> None:
    """Tensor 1 is dropped and made again from tensor 0 before the first backward operator."""
    program = chain([2, 2], [1, 1], [3, 1])
    placement = Placement(np.array([[3.0], [0.0]]), np.zeros(2), np.array([False, True]))
    ran = run(program, [ONE], placement)
    assert ran.remakes == ((1, 10.0, 12.0),)
    assert ran.end_s == 14


def test_a_shared_link_serves_collectives_in_turn() -> None:
    exchanges = [(0, False), (5, False), (0, False), (0, False)]
    program = chain([2, 2], [1, 1], [3, 1], exchanges)
    shared = ONE.model_copy(update={"shares_collectives": True})
    assert run(program, [ONE], local(program.size_bytes, [ONE])).end_s == 14
    assert run(program, [shared], local(program.size_bytes, [shared])).end_s == 19


def test_few_tensors_may_be_on_their_way_out() -> None:
    program = chain([1, 1, 1, 1], [1, 1, 1, 1], [9, 9, 9, 9])
    free = run(program, [ONE], local(program.size_bytes, [ONE]))
    held = run(program, [ONE], local(program.size_bytes, [ONE]), most_leaving=1)
    assert free.starts_s[:4].tolist() == [0, 1, 2, 3]
    assert held.starts_s[:4].tolist() == [0, 1, 2, 11]


def test_figure_10() -> None:
    """One allocation between instantaneous kernels: 150 against 75 and 50 GB/s."""
    program = chain([0], [0], [3 * 10**9])
    sides = [Link(name=name, bandwidth_bytes_per_s=75e9) for name in ("left", "right")]
    star = [Link(name="memory node", bandwidth_bytes_per_s=50e9)]
    aware = run(program, sides, evenly(program.size_bytes, sides)).end_s
    assert aware == 2 * 3e9 / 150e9
    assert run(program, sides, local(program.size_bytes, sides)).end_s / aware == 2.0
    assert run(program, star, local(program.size_bytes, star)).end_s / aware == 3.0


def test_wrong_placements_are_refused() -> None:
    program = chain([1, 1], [1, 1], [4, 4])
    with pytest.raises(ValueError, match="placement: tensor 1 has 3 of 4 bytes placed"):
        run(program, [ONE], Placement(np.array([[4.0], [3.0]]), np.zeros(2), np.zeros(2, bool)))
    with pytest.raises(ValueError, match="do not fit 2 tensors and 1 links"):
        run(program, [ONE], Placement(np.zeros((2, 2)), np.zeros(2), np.zeros(2, bool)))
    with pytest.raises(ValueError, match="bytes must not be negative"):
        run(program, [ONE], Placement(np.array([[5.0], [4.0]]), np.array([-1.0, 0.0]), np.zeros(2, bool)))
    with pytest.raises(ValueError, match="'t1' and what it is made from are both remade"):
        run(program, [ONE], Placement(np.zeros((2, 1)), np.zeros(2), np.ones(2, bool)))
