"""Schedules interpreted chunk by chunk: every corruption is found."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from costmodel.collectives.build import schedule_of
from costmodel.collectives.interpret import interpret
from costmodel.collectives.schedule import Schedule
from tests.costmodel.collectives.cases import best_of


def _changed(schedule: Schedule, **columns: Any) -> Schedule:
    return replace(schedule, **columns)


def test_every_corruption_is_found() -> None:
    schedule = schedule_of(best_of("radix", "all_reduce", 12, 1e6))
    row = len(schedule) // 3
    swapped = schedule.chunk.copy()
    swapped[row] = (swapped[row] + 1) % 12
    assert "twice" in interpret(_changed(schedule, chunk=swapped, target=swapped))[0]
    keep = np.arange(len(schedule)) != row
    names = ("round", "sender", "receiver", "chunk", "target", "is_reduction", "circuit")
    without = _changed(schedule, **{name: getattr(schedule, name)[keep] for name in names})
    assert interpret(without)
    again = np.append(np.arange(len(schedule)), 0)
    again.sort()
    doubled = _changed(schedule, **{name: getattr(schedule, name)[again] for name in names})
    assert "twice" in interpret(doubled)[0]
    adds = schedule.is_reduction.copy()
    adds[-1] = True
    assert "twice" in interpret(_changed(schedule, is_reduction=adds))[0]
    replaces = schedule.is_reduction.copy()
    replaces[0] = False
    assert interpret(_changed(schedule, is_reduction=replaces))


def test_circuits_are_checked() -> None:
    schedule = schedule_of(best_of("exchange", "all_reduce", 8, 1e3))
    assert schedule.num_configurations == 1
    other = schedule.circuit.copy()
    other[0] = (other[0] + 1) % len(schedule.circuits)
    assert "circuit of other ranks" in interpret(_changed(schedule, circuit=other))[0]
    local = schedule.circuit.copy()
    local[0] = -1
    assert "has no circuit" in interpret(_changed(schedule, circuit=local))[0]
    late = replace(schedule.circuits, first=schedule.circuits.first + 1)
    assert "off in its round" in interpret(_changed(schedule, circuits=late))[0]
    assert "not in order" in interpret(_changed(schedule, round=schedule.round[::-1].copy()))[0]


def test_what_was_never_received_is_not_sent() -> None:
    schedule = schedule_of(best_of("ring", "all_gather", 5, 1e3))
    swapped = np.where(schedule.round == 1, schedule.chunk - 1, schedule.chunk) % 5
    assert "before it holds it" in interpret(_changed(schedule, chunk=swapped, target=swapped))[0]


def test_two_copies_into_one_slot_are_found() -> None:
    schedule = schedule_of(best_of("exchange", "all_reduce", 8, 1e3, max_peers=16))
    target = np.where(schedule.circuit >= 0, 3, schedule.target).astype(np.int32)
    assert "replaced while something else arrives" in interpret(_changed(schedule, target=target))[0]


def test_relabelled_ranks() -> None:
    schedule = schedule_of(best_of("radix", "all_reduce", 6, 1e6))
    turned = schedule.relabelled([3, 1, 4, 0, 5, 2])
    assert interpret(turned) == ()
    assert set(turned.sender[schedule.sender == 0].tolist()) == {3}
    with pytest.raises(ValueError, match="name each of the 6 ranks once"):
        schedule.relabelled([0, 0, 1, 2, 3, 4])
    gathered = schedule_of(best_of("radix", "all_gather", 6, 1e6)).relabelled([3, 1, 4, 0, 5, 2])
    assert interpret(gathered) == ()
    with pytest.raises(ValueError, match="relabel an all_reduce"):
        schedule_of(best_of("bruck", "all_to_all", 6, 1e6)).relabelled(range(6))
