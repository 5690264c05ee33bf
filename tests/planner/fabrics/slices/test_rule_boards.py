"""Light of boards followed wavelength by wavelength, and messages over links that have more of it."""

from typing import Any

import pytest

from costmodel.parallelism.configuration import Collective, Configuration
from planner.candidates.expand import expand
from planner.checks import check
from planner.fabrics.slices.free_state import SlicedFreeState
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.checks.plans import assign, broken, plan_of
from tests.planner.fabrics.slices.clusters import BOARDS, CUBES, MIXTURE, SERVING, TRAINING, job, sliced
from tests.planner.fabrics.slices.plans import taking

POD = BOARDS | {"sides": [4, 2, 3], "servers": 1}
RULE = "boards"


def lit(kind: Any, *radices: int, widths: tuple[int, ...]) -> Collective:
    return taking(kind, *radices).model_copy(update={"wavelengths": widths})


def square(widths: tuple[int, int, int], first: int = 0, fabric: dict[str, Any] = POD) -> tuple[Instance, Plan]:
    """Two tensor ranks along x and two data ranks along z, from x = `first` on."""
    configuration = Configuration(
        tensor=2, data=2, block=4,
        tensor_collective=lit("bucket", 2, 1, 1, widths=(widths[0], 1, 1)),
        data_collective=lit("bucket", 1, 1, 2, widths=(1, 1, widths[2])),
    )  # fmt: skip
    devices = " ".join(f"s0.c{(first + x) % 4 * 6 + z}" for z in range(2) for x in range(2))
    instance = sliced(fabric, job("a", 4))
    return instance, plan_of(instance, assign("a", configuration, devices))


def faults(instance: Instance, plan: Plan) -> list[str]:
    return [violation.message for violation in check(instance, plan) if violation.rule == RULE]


def test_a_slice_on_a_board_has_what_its_chips_send() -> None:
    instance, plan = square((5, 1, 1))
    assert check(instance, plan) == []
    assert broken(*square((5, 1, 1), first=2)) == set()
    [*wrong] = faults(*square((6, 1, 1)))
    assert len(wrong) == 4
    assert "a: s0.c0 sends 7 wavelengths, and has 6" in wrong


@pytest.mark.parametrize("first", [1, 3])
def test_a_fiber_between_boards_carries_no_more_than_it_may(first: int) -> None:
    """Also round the rim; with room in the fibers the same slice is fine."""
    wrong = faults(*square((4, 1, 2), first))
    assert sum("lie on two boards: a fiber between these carries 1 wavelengths, not 4" in each for each in wrong) == 2
    assert sum("a fiber between these carries 1 wavelengths, not 2" in each for each in wrong) == 2
    wide = POD | {"boards": {"sides": [2, 2, 1], "wavelengths_per_fiber": 4}}
    assert check(*square((4, 1, 2), first, wide)) == []


def test_a_link_never_has_less_than_on_a_plain_torus() -> None:
    fine = POD | {"boards": {"sides": [2, 2, 1], "wavelengths_per_link": 2}}
    assert any("have 1 wavelengths, less than a link of 2" in each for each in faults(*square((11, 1, 1), 0, fine)))


def test_collectives_agree_on_their_links() -> None:
    instance, plan = square((5, 1, 1))
    some = plan["a"].configuration.model_copy(update={"data_collective": taking("bucket", 1, 1, 2)})
    told = plan.model_copy(update={"assignments": (plan["a"].model_copy(update={"configuration": some}),)})
    assert "others do not" in faults(instance, told)[0]
    none = sliced({key: value for key, value in POD.items() if key != "boards"}, job("a", 4))
    assert "the fabric has none" in faults(none, plan)[0]


def test_light_of_boards_ends_where_a_server_does() -> None:
    fabric = CUBES | {"boards": {"sides": [2, 2, 1]}}
    configuration = Configuration(data=16, data_collective=lit("bucket", 4, 2, 2, widths=(1, 1, 1)))
    instance = sliced(fabric, job("a", 16))
    devices = " ".join(f"s{s}.c{4 * x + 2 * y + z}" for z in (0, 1) for y in (0, 1) for s in (0, 1) for x in (0, 1))
    assert "it has a longer box" in faults(instance, plan_of(instance, assign("a", configuration, devices)))[0]


CASES = [
    (POD, TRAINING, 4),
    (POD, MIXTURE | {"expert": [4, 8]}, 8),
    (POD, SERVING | {"disaggregated": True, "prefill_accelerators": 2}, 4),
    (CUBES | {"boards": {"sides": [2, 1, 1], "wavelengths_per_link": 2, "wavelengths_per_fiber": 3}}, TRAINING, 4),
]


@pytest.mark.parametrize(("fabric", "workload", "size"), CASES)
def test_messages_over_light_take_what_they_are_charged(fabric: Any, workload: Any, size: int) -> None:
    instance = sliced(fabric, job("a", size, workload))
    options = expand(instance, prune=False).options[0]
    seen = set()
    for row in range(len(options)):
        plans = options.candidates.row_plans(row)
        key = tuple((plan.kind, plan.radices, plan.wavelengths) for plan in plans)
        if key in seen or not any(plan.wavelengths for plan in plans):
            continue
        seen.add(key)
        demand = options.shapes[row]
        assigned = SlicedFreeState(instance.cluster).assign(options, row, [(0, demand.num_ranks // demand.part)])
        assert assigned is not None
        wrong = check(instance, plan_of(instance, assigned))
        assert [each for each in wrong if each.rule in ("rounds", "cut", "listed", RULE)] == []
    assert len(seen) > 4
