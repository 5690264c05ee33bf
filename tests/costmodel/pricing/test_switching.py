"""Switches between turns: the scalar timeline, and laws of the price."""

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from costmodel.fabrics import FabricBase, LinkPlan
from costmodel.fabrics.turns import SwitchingInside, Turns
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.score import score
from costmodel.pricing.step_price import switching_of
from costmodel.pricing.switching import between_dimensions, switching
from costmodel.pricing.totals import Messages, Totals
from tests.costmodel.pricing.score_cases import DEVICE, LIGHTPATH, assert_equal_the_oracle, candidates_of, fabric_of
from tests.oracles.rails import ports_needed
from tests.oracles.score import score_row
from tests.oracles.tiny_groups import EXPERTS
from tests.oracles.tiny_instances import SMALL
from tests.planner.fabrics.ocs_rail.rule_rails_cases import RAILS

TRAINING = {"kind": "transformer_training", "global_batch": 16, "sequence": 256, "micro_batch": 1}
JOBS: dict[str, dict[str, Any]] = {
    "experts": TRAINING | {"model": EXPERTS | {"layers": 4}, "expert": [1, 2], "zero": [1, 2]},
    "sequences": TRAINING | {"model": SMALL | {"layers": 4}, "context": [1, 2], "interleave": [1, 2]},
    "sharded": TRAINING | {"model": SMALL | {"layers": 4}, "zero": 3, "prefetch": True, "context": 2},
}


def rails(reconfiguration: str) -> FabricBase:
    return fabric_of(RAILS | {"servers": 8, "ports": 8, "gpus_per_server": 2, "switches": 4, "switching": "phases"}
                     | {"reconfiguration": reconfiguration})  # fmt: skip


@pytest.mark.parametrize("reconfiguration", ["1 ms", "20 us"])
def test_tiles_whose_switches_hide_cost_what_the_scalar_timeline_says(reconfiguration: str) -> None:
    """Never more than where steps wait for switches, and what hides is no more than operators take."""
    waiting = fabric_of(LIGHTPATH | {"reconfiguration": reconfiguration})
    hiding = fabric_of(LIGHTPATH | {"reconfiguration": reconfiguration, "switching": "hidden"})
    for name in ("sequences", "experts"):
        candidates = candidates_of(JOBS[name] | {"zero": 1}, hiding, 8)
        candidates = candidates.take(np.arange(0, len(candidates), max(1, len(candidates) // 400)))
        assert_equal_the_oracle(candidates, DEVICE, hiding, 6)
        slow, fast = (score(candidates, DEVICE, fabric) for fabric in (waiting, hiding))
        assert (fast.step_s <= slow.step_s).all()
        assert (fast.step_s < slow.step_s).any()
        switched = slow.reconfiguration_s > 0
        assert (fast.reconfiguration_s[switched] < slow.reconfiguration_s[switched]).all()
        assert (fast.reconfiguration_s >= 0).all()
        hidden_s = slow.reconfiguration_s - fast.reconfiguration_s
        assert (hidden_s <= (fast.compute_s + fast.memory_s) * (1 + 1e-9)).all()


def rows(name: str, reconfiguration: str) -> tuple[FabricBase, Candidates]:
    fabric = rails(reconfiguration)
    return fabric, candidates_of(JOBS[name], fabric, 8)


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("reconfiguration", ["20 ms", "100 us"])
def test_rows_in_turns_cost_what_the_scalar_timeline_says(name: str, reconfiguration: str) -> None:
    fabric, candidates = rows(name, reconfiguration)
    scores, seen = score(candidates, DEVICE, fabric), set()
    for number, split in enumerate(candidates.splits):
        of_split = np.flatnonzero(candidates.split == number)
        for row in of_split[:: max(1, len(of_split) // 5)].tolist():
            expected = score_row(candidates, row, DEVICE, split.fabric)
            found = {column: float(values[row]) for column, values in vars(scores).items() if values.ndim == 1}
            found |= {f"{d}_s": float(scores.communication_s[axis, row]) for axis, d in enumerate(DIMENSIONS)}
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-15, nan_ok=True)
            seen.add((split.fabric.turns, found["reconfiguration_s"] > 0))
    assert len({turns for turns, _ in seen}) > 3
    assert any(waits for turns, waits in seen if turns)


def _laid(candidates: Candidates, row: int) -> tuple[Any, ...]:
    """Mapping and block."""
    c = candidates.configuration(row)
    return c.all_degrees, c.micro_batch, c.interleave, c.zero, c.recompute, c.sequence_parallel, c.block


def _kinds(candidates: Candidates, row: int) -> int:
    plans = dict(zip(DIMENSIONS, candidates.row_plans(row), strict=True))
    in_layers = any(plans[d].wavelengths for d in ("tensor", "context", "expert"))
    return in_layers + bool(plans["pipeline"].wavelengths) + bool(plans["data"].wavelengths)


@pytest.mark.parametrize("name", JOBS)
def test_switches_that_take_no_time_cost_nothing(name: str) -> None:
    """With as many ports some turns are never slower than circuits that are held."""
    fabric, candidates = rows(name, "0 s")
    step_s = score(candidates, DEVICE, fabric).step_s
    in_turns: defaultdict[tuple[Any, ...], list[tuple[int, float]]] = defaultdict(list)
    held = list[tuple[tuple[Any, ...], int, float]]()
    for row in range(len(candidates)):
        configuration = candidates.configuration(row)
        ports, laid = ports_needed(configuration), _laid(candidates, row)
        if configuration.turns:
            in_turns[laid].append((ports, float(step_s[row])))
        elif _kinds(candidates, row) > 1:
            held.append((laid, ports, float(step_s[row])))
    assert len(held) > 5
    for laid, ports, time_s in held:
        assert min(time for needed, time in in_turns[laid] if needed <= ports) <= time_s * (1 + 1e-12)


@pytest.mark.parametrize("name", JOBS)
def test_slower_switches_cost_more_and_hide_behind_operators_alone(name: str) -> None:
    last_s = np.zeros(1)
    for reconfiguration in ("0 s", "10 us", "1 ms", "50 ms"):
        fabric, candidates = rows(name, reconfiguration)
        scores = score(candidates, DEVICE, fabric)
        assert (scores.step_s >= last_s * (1 - 1e-12)).all()
        last_s = scores.step_s
        for number, split in enumerate(candidates.splits):
            part = candidates.take(np.flatnonzero(candidates.split == number))
            if split.fabric.turns and len(part):
                own, graph = part.part(slice(None), DEVICE)
                found = switching_of(own, graph, DEVICE, split.fabric)
                free_s = score(part, DEVICE, fabric)
                operators_s = free_s.compute_s + free_s.memory_s
                assert (found.hidden_s <= operators_s * (1 + 1e-9)).all()
                np.testing.assert_allclose(found.hidden_s + found.shown_s[0], found.number * found.switch_s)
                np.testing.assert_allclose(found.shown_s[0], free_s.reconfiguration_s, rtol=1e-9, atol=1e-15)


def test_circuits_of_dimensions_switch_there_and_back() -> None:
    """At every pipeline message beside tensor phases, at every data phase beside any other."""
    rows = np.array([0, 1])
    cases: list[tuple[dict[int, list[float]], list[int], list[int], list[int]]] = [
        ({0: [6, 6]}, [0, 0], [0, 0], [0, 0]),
        ({0: [6, 0], 1: [3, 3]}, [6, 0], [0, 0], [3, 0]),
        ({0: [6, 0], 1: [3, 3], 2: [1, 1]}, [6, 0], [2, 2], [3, 0]),
        ({2: [1, 1]}, [0, 0], [0, 0], [0, 0]),
        ({0: [6, 0], 3: [1, 1], 4: [4, 4]}, [8, 4], [0, 0], [2, 0]),
    ]
    for counts, *expected in cases:
        messages = {axis: Messages(np.array(count), *6 * (np.ones(2),)) for axis, count in counts.items()}
        found = between_dimensions(rows, Totals(*np.zeros((7, 2)), messages))
        np.testing.assert_array_equal(found, expected)


def test_a_step_of_four_messages_by_hand() -> None:
    """Three hand-overs and one message of a half between replicas: the switches turn to it once, and back."""
    turns: Turns = ("pipeline", "data")
    lit, plans = LinkPlan("line", 2, wavelengths=(1,)), [LinkPlan("none", 1)]
    candidates: Any = SimpleNamespace(
        plans=[*plans, lit], plan=np.array([[0], [1], [1], [0], [0]]), mapping=np.zeros(1, int)
    )
    one = np.ones(1)
    messages = {axis: Messages(number * one, 6 * one, *5 * (one,)) for axis, number in ((1, 3.0), (2, 0.5))}
    sums = Totals(*np.zeros((7, 1)), messages)
    for switch_s, free_s, hidden_s, shown_s in ((1.0, 2.0, 1.0, 1.0), (0.25, 2.0, 0.5, 0.0), (1.0, 0.0, 0.0, 2.0)):
        fabric: Any = SimpleNamespace(turns=turns, switching_inside=SwitchingInside(switch_s, is_hidden=True))
        found = switching(candidates, sums, fabric, np.array([free_s]))
        assert (found.repeated.tolist(), found.others.tolist()) == ([0.0], [2.0])
        assert found.hidden_s.tolist() == [hidden_s]
        assert [float(each[0]) for each in found.shown_s] == [shown_s, 0.0]
