"""Jobs lie alike where the same circuits join the same ranks, whatever their devices are called."""

from collections.abc import Hashable

from planner.checks.by_rank import each_lie, lies, places
from planner.model.violation import Violation
from tests.planner.checks.good import fat_tree, ring
from tests.planner.checks.plans import edited, instance_of, job, relocated, rewired


def test_names_do_not_matter_but_widths_and_ends_do() -> None:
    _, plan = ring()
    moved = relocated(plan, "ring", s0_t1="s0.t5")
    narrow = rewired(plan, "ring", "s0.t0 s0.t1 0")
    keys = []
    for number, each in enumerate((plan, moved, narrow)):
        (assignment,) = edited(each, "ring", job=f"job{number}").assignments
        keys.append(assignment.model_copy(update={"configuration": plan["ring"].configuration}))
    instance = instance_of(*(job(f"job{number}", 4) for number in range(3)))
    first, second, third = lies(instance, plan.model_copy(update={"assignments": tuple(keys)}))
    assert first == second
    assert first != third


def test_slots_and_common_servers_count_where_places_do() -> None:
    instance, plan = fat_tree()
    configuration = plan["packets"].configuration

    def place(*devices: str) -> Hashable:
        return places(instance, edited(plan, "packets", devices=devices, configuration=configuration))[0]

    near = place("r0.s0.g0", "r0.s0.g1", "r0.s0.g2", "r0.s0.g3")
    assert near == place("r1.s0.g0", "r1.s0.g1", "r1.s0.g2", "r1.s0.g3")
    assert near != place("r0.s0.g1", "r0.s0.g0", "r0.s0.g2", "r0.s0.g3")
    assert near != place("r0.s0.g0", "r0.s0.g1", "r1.s0.g2", "r1.s0.g3")
    assert place("r0.s0.g0", "r0.s0.g1", "r0.s0.g2", "nowhere") is None


def test_a_device_twice_is_like_no_other() -> None:
    instance, plan = ring()
    assert lies(instance, edited(plan, "ring", devices=("s0.t0",) * 4)) == [None]


def test_what_is_right_is_looked_at_once_and_what_is_wrong_each_time() -> None:
    asked = []

    def judge(j: int) -> list[Violation]:
        asked.append(j)
        return [Violation("circuits", str(j), "wrong")] if j in (2, 3) else []

    wrong = [*each_lie(["a", "a", "b", "b", None, None], lambda j: iter(judge(j)))]
    assert asked == [0, 2, 3, 4, 5]
    assert [violation.where for violation in wrong] == ["2", "3"]
