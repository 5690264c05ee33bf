"""Shared by the tests of `constraints`."""

from typing import Any

from tests.planner.small_racks import Fields, serving


def ring_resident(**fields: Any) -> Fields:
    """Two ranks on two servers, two wavelengths each way."""
    ends = (("s0.t0", "s1.t0", "s0>s1#0"), ("s1.t0", "s0.t0", "s1>s0#0"))
    circuits = [{"from": a, "to": b, "wavelengths": [0, 1], "fibers": [f]} for a, b, f in ends]
    ring = {"kind": "ring", "wavelengths": [2]}
    return serving(
        "r", 2, devices=["s0.t0", "s1.t0"], circuits=[{"dimension": "tensor", "circuits": circuits}],
        configuration={"tensor": 2, "micro_batch": 8, "tensor_collective": ring}, **fields,
    )  # fmt: skip
