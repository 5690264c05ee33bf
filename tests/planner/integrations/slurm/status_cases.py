"""Shared by the tests of `slurm_status` and `status`."""

from planner.integrations.slurm.allocations import Allocation

PLACE = Allocation({"n0": (0, 1)}, [{"dimension": "data", "circuits": [{"from": "s0.t0"}]}])
