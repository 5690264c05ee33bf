"""What holds of a workload that says nothing else, and that all of the union are such."""

from typing import get_args

from costmodel.hardware.device import load_device
from costmodel.parallelism.degrees import RANK_ORDERS
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.workloads import Known
from costmodel.workloads.base import WorkloadBase


def test_steps_are_alike_and_nothing_was_fitted_unless_a_workload_says_so() -> None:
    plain = WorkloadBase()
    assert (plain.phases, plain.rounds_per_step, plain.rank_orders) == ((), 0.0, RANK_ORDERS)
    assert (plain.tensor_leaves_servers, plain.reads_at_random) == (False, False)
    assert not any(map(plain.sends_halves, DIMENSIONS))
    assert plain.fitted_on(load_device("h100"), 8) == (None, {})


def test_every_workload_may_leave_these_out() -> None:
    assert all(issubclass(each, WorkloadBase) for each in get_args(Known))
