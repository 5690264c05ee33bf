"""Blocks of ranks in one server."""

from costmodel.parallelism.configuration import Configuration
from tests.planner.checks.good import fat_tree
from tests.planner.checks.plans import SERVING, assign, broken, edited, instance_of, job, plan_of


def test_blocks_across_servers() -> None:
    """Tensor ranks 0 and 1 in different islands, and 2 and 3 likewise."""
    instance, plan = fat_tree()
    devices = ("r0.s0.g0", "r1.s0.g0", "r0.s0.g1", "r1.s0.g1")
    assert broken(instance, edited(plan, "packets", devices=devices)) == {"block"}


def test_blocks_may_share_a_server() -> None:
    instance, plan = fat_tree()
    devices = ("r1.s0.g0", "r1.s0.g3", "r1.s0.g1", "r1.s0.g2")
    assert broken(instance, edited(plan, "packets", devices=devices)) == set()


def test_job_kept_in_one_server() -> None:
    one_server = {"workload": SERVING, "constraints": {"one_server": True}}
    instance = instance_of({**job("serve", 2), **one_server})
    configuration = Configuration(data=2, micro_batch=4, block=2)
    inside = plan_of(instance, assign("serve", configuration, "s1.t5 s1.t0"))
    assert broken(instance, inside) == set()
    assert broken(instance, edited(inside, "serve", devices=("s1.t5", "s0.t0"))) == {"block"}
