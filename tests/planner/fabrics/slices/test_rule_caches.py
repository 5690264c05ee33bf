"""Caches inside slices, walked link by link, take the time that their plans are priced with."""

from typing import Any

import pytest

from costmodel.fabrics import Sipac, Torus
from planner import solve
from planner.fabrics.slices.rule_boxes import box_of
from planner.fabrics.slices.rule_caches import caches_time
from planner.fabrics.slices.rule_cut import placed_parts
from planner.fabrics.slices.rule_links import Links
from planner.model.instance import Instance
from tests.planner.checks.plans import broken, edited

TORUS: dict[str, Any] = {
    "kind": "torus", "servers": 2, "sides": [2, 2, 2], "link_bandwidth": "50 GB/s", "alpha": "1 us",
    "link_energy": "10 pJ/b", "switches": {"ports": 8, "energy": "1 pJ/b"},
}  # fmt: skip
SIPAC: dict[str, Any] = {
    "kind": "sipac", "servers": 1, "radix": 3, "digits": 2, "bandwidth": "300 GB/s", "alpha": "1 us",
    "energy": "5 pJ/b",
}  # fmt: skip
SERVICE: dict[str, Any] = {
    "kind": "transformer_inference", "model": "qwen3-30b-a3b", "concurrency": 64, "input_tokens": 4096,
    "output_tokens": 64, "disaggregated": True,
}  # fmt: skip


@pytest.mark.parametrize(("fabric", "size", "prefill"), [(TORUS, 8, 4), (TORUS, 16, 8), (SIPAC, 9, 3), (SIPAC, 3, 1)])
def test_a_cache_takes_what_it_is_charged(fabric: dict[str, Any], size: int, prefill: int) -> None:
    job = {"name": "a", "workload": SERVICE | {"prefill_accelerators": prefill}, "accelerators": size, "required": True}
    data = {"schema_version": 2, "name": "one", "cluster": {"device": "h100-sxm", "fabric": fabric}, "jobs": [job]}
    instance = Instance.parse(data, "one")
    plan = solve(instance, time_limit_s=20).plan
    assert plan is not None
    on, assignment = instance.cluster.fabric, plan["a"]
    assert isinstance(on, Torus | Sipac)
    box = box_of(on, assignment.configuration)
    assert box is not None
    links = Links(on, assignment)
    times = [caches_time(links, assignment.configuration, box, each) for each in placed_parts(on, box, assignment)]
    c = assignment.configuration
    charged = on.transfers(c.prefill, c.data - c.prefill, one_server=size <= on.devices_per_server)
    [plan_] = [each for each in charged if each.radices == c.data_collective.radices]
    assert times == [pytest.approx((plan_.latency_s, plan_.seconds_per_byte))] * len(times)
    swapped = (assignment.devices[-1], *assignment.devices[1:-1], assignment.devices[0])
    assert "cut" in broken(instance, edited(plan, "a", devices=swapped))
