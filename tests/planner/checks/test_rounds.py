"""Collectives run round by round. Lacking circuits are in test_circuits."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from costmodel.fabrics import Lightpath
from costmodel.parallelism.configuration import Collective
from costmodel.parallelism.mappings import Dimension
from planner.checks import rounds
from planner.checks.circuit_rules import message_time
from planner.checks.judged import Judged, judged
from planner.checks.pricing import Price
from planner.checks.required import group_links, is_sound
from planner.checks.schedule import reduces_once, schedule_of
from planner.fabrics.lightpath.rules import LightpathRules
from tests.planner.checks.good import GOOD
from tests.planner.checks.plans import LIGHTPATH, broken


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ring", "switched", "at_once", "exchange", "beyond", "line", "grid", "pools"])
@pytest.mark.parametrize("field", ["latency_s", "seconds_per_byte"])
@pytest.mark.parametrize(("factor", "rules"), [(1.002, set()), (1.003, {"rounds"}), (0.997, {"rounds"})])
def test_time_that_is_charged(
    monkeypatch: pytest.MonkeyPatch, name: str, field: str, factor: float, rules: set[str]
) -> None:
    """A cost model that is 0.2 % off passes, 0.3 % does not."""

    def wrong(*arguments: Any) -> list[Judged]:
        return [each._replace(price=_wrong(each.price)) for each in judged(*arguments)]

    def _wrong(price: Price | None) -> Price:
        assert price is not None
        times = [{"latency_s": p.latency_s, "seconds_per_byte": p.seconds_per_byte} for p in price.by_phase[0]]
        plans: list[Any] = [SimpleNamespace(**each | {field: each[field] * factor}) for each in times]
        return replace(price, by_phase=(tuple(plans),))

    monkeypatch.setattr(rounds, "judged", wrong)
    assert broken(*GOOD[name]()) == rules


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 15, 16, 20, 24, 26, 37])
@pytest.mark.parametrize("max_peers", [2, 3, 5, 16])
@pytest.mark.parametrize("dimension", ["data", "pipeline"])
def test_all_plans_of_the_fabric(ranks: int, max_peers: int, dimension: Dimension) -> None:
    """Circuits, rounds and times of every listed collective, both computed from its few numbers."""
    fabric = Lightpath.model_validate(
        {**LIGHTPATH, "wavelengths_per_tile": 16, "max_peers": max_peers, "waveguides": "shared"}
    )
    transfers = [fabric.transfers(first, ranks - first, one_server=False) for first in range(1, ranks)]
    for plan in (*fabric.plans(dimension, ranks, one_server=False), *(plan for each in transfers for plan in each)):
        collective = Collective.of(plan)
        assert is_sound(collective, ranks)
        links = group_links(collective, ranks)
        assert [sorted((a, b, w) for (a, b), w in each.items()) for each in links] == [
            sorted(circuits) for circuits in plan.configurations()
        ]
        devices = [f"d{rank}" for rank in range(ranks)]
        held = [{(devices[a], devices[b]): w for (a, b), w in each.items()} for each in links]
        charged = pytest.approx((plan.latency_s, plan.seconds_per_byte))
        assert message_time(LightpathRules().speed(fabric), schedule_of(collective, ranks), devices, held) == charged
        assert plan.kind in ("line", "transfer") or reduces_once(collective, ranks)
