"""Turns of circuits: every way to divide kinds, and which plans are offered together, by enumeration."""

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest
from pydantic import TypeAdapter

from costmodel.fabrics import Fabric, FabricBase, GroupPlan, LinkPlan, OcsRail
from costmodel.fabrics.ocs_rail import ports_of
from costmodel.fabrics.turns import EVERY, Turns, choices_in_turns, has_every_kind, most_at_once, turn_of
from costmodel.hardware.device import load_device
from costmodel.parallelism.mappings import DIMENSIONS
from tests.planner.fabrics.ocs_rail.rule_rails_cases import RAILS

DARK = LinkPlan("none", 1)


def rails(**fields: object) -> OcsRail:
    fabric: FabricBase = TypeAdapter(Fabric).validate_python(RAILS | fields)
    assert isinstance(fabric, OcsRail)
    return fabric


def test_every_division_of_kinds_is_there_once() -> None:
    """Of two kinds one, of three four: a kind alone beside the other two, or each alone."""
    found = {frozenset(frozenset(turn.split("+")) for turn in turns) for turns in EVERY}
    assert len(found) == len(EVERY) == 3 + 4
    assert all(len(turns) > 1 for turns in EVERY)
    assert turn_of(("layers+data", "pipeline"), "expert") == "layers+data"
    assert turn_of(("pipeline", "data"), "context") is None
    assert most_at_once(("layers+data", "pipeline"), [0, 7, 1, 2, 3]) == 7
    assert most_at_once(("layers", "pipeline+data"), [0, 4, 5, 2, 3]) == 9


NAMED = {"pipeline": "pipeline", "data": "data"}
COSTS = ("latency_s", "seconds_per_byte", "bytes_per_byte")


def _of_turn(chosen: Sequence[LinkPlan], turn: str) -> tuple[int, tuple[float, ...]]:
    """Ports and costs of the plans that are on in a turn."""
    own = [p for d, p in zip(DIMENSIONS, chosen, strict=True) if NAMED.get(d, "layers") in turn.split("+")]
    return sum(sum(p.wavelengths) for p in own), tuple(getattr(p, name) for p in own for name in COSTS)


def _offered(menus: Sequence[Sequence[LinkPlan]], turns: Turns, most: int) -> set[tuple[int, tuple[float, ...]]]:
    """Ports held, and costs, by definition: no turn could have others on these ports that are nowhere worse."""
    found = set()
    every = [[_of_turn(chosen, turn) for turn in turns] for chosen in product(*menus)]
    for each in every:
        held = max(ports for ports, _ in each)
        is_replaced = any(
            other[0] <= held
            and all(a <= b for a, b in zip(other[1], own[1], strict=True))
            and (other[1], other[0]) < (own[1], own[0])
            for others in every
            for other, own in zip(others, each, strict=True)
        )
        if held <= most and not is_replaced:
            found.add((held, tuple(cost for _, costs in each for cost in costs)))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_plans_offered_together_are_those_that_no_others_replace(seed: int) -> None:
    draw = Random(seed)
    turns, most = draw.choice(EVERY), draw.choice((2, 3, 4))
    kinds = {kind for turn in turns for kind in turn.split("+")}
    lit = {d for d in ("pipeline", "data", draw.choice(("context", "expert"))) if NAMED.get(d, "layers") in kinds}
    menus = [[_plan(draw) for _ in range(draw.randint(1, 4))] if d in lit else [DARK] for d in DIMENSIONS]
    places = [*choices_in_turns(menus, turns, ports_of, most)]
    assert len(set(places)) == len(places)
    chosen = [[menu[place] for menu, place in zip(menus, each, strict=True)] for each in places]
    assert all(has_every_kind(turns, plans) for plans in chosen)
    found = [[_of_turn(plans, turn) for turn in turns] for plans in chosen]
    costs = [(max(p for p, _ in each), tuple(c for _, own in each for c in own)) for each in found]
    assert len({*costs}) == len(costs)
    assert {*costs} == _offered(menus, turns, most)
    assert all(
        most_at_once(turns, [*map(ports_of, plans)]) == held for plans, (held, _) in zip(chosen, costs, strict=True)
    )


def _plan(draw: Random) -> LinkPlan:
    latency_s, byte_s, sent = (draw.choice((1.0, 2.0, 3.0)) for _ in range(3))
    return LinkPlan("ring", 4, latency_s, byte_s, sent, (draw.choice((1, 2, 3)),))


def test_rails_offer_turns_where_switches_may_turn() -> None:
    """Held circuits are always there; a division without one of its kinds, or with another one, has no combination."""
    device = load_device("h100-sxm")
    assert [split.fabric.turns for split in rails().splits(device)] == [()]
    splits = rails(switching="phases").splits(device)
    assert [split.fabric.turns for split in splits] == [(), *EVERY]
    line, ring = LinkPlan("line", 2, wavelengths=(3,)), LinkPlan("ring", 2, wavelengths=(3,))
    plans: list[GroupPlan] = [DARK, line, ring, DARK, DARK]
    assert [split.fabric.turns for split in splits if split.fabric.combines(plans)] == [("pipeline", "data")]
    offering = [
        split.fabric.turns for split in splits if [*split.fabric.combinations([[plan] for plan in plans], [False] * 5)]
    ]
    assert offering == [("pipeline", "data")]
    assert not any([*split.fabric.combinations([[DARK], [line], [], [DARK], [DARK]], [False] * 5)] for split in splits)
