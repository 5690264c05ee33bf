"""Parts of a job in several racks, by what their circuits serve."""

from hypothesis import given
from hypothesis import strategies as st

from planner.fabrics.aligned_parts import Key, aligned

PHASES = ("prefill", "decode")
Part = list[tuple[Key[str], str]]


def test_a_key_may_come_several_times() -> None:
    parts: list[Part] = [[(("data", None), f"{rack}0"), (("data", None), f"{rack}1")] for rack in "ab"]
    assert aligned(parts) == [(("data", None), ["a0", "b0"]), (("data", None), ["a1", "b1"])]


def test_keys_in_another_order_are_those_of_the_first_part() -> None:
    parts: list[Part] = [[(("memory", "prefill"), "a"), (("memory", None), "b")]]
    parts.append([(("memory", None), "d"), (("memory", "prefill"), "c")])
    assert aligned(parts) == [(("memory", "prefill"), ["a", "c"]), (("memory", None), ["b", "d"])]


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=4))
def test_each_part_has_on_in_each_phase_what_it_had(apart: list[list[bool]]) -> None:
    """`apart`: of each part and dimension, whether its circuits differ between phases."""
    parts: list[Part] = []
    for rack, own in enumerate(apart):
        part: Part = []
        for what, differs in zip(("tensor", "pipeline", "data"), own, strict=True):
            part += [((what, phase), f"{rack} {what} {phase}") for phase in (PHASES if differs else (None,))]
        parts.append(part)
    found = aligned(parts)
    for rack, part in enumerate(parts):
        for phase in PHASES:
            lit = [entry for (_, of), entry in part if of in (None, phase)]
            assert [entries[rack] for (_, of), entries in found if of in (None, phase)] == lit
    told = [key for key, _ in found]
    assert len({*told}) == len(told)
