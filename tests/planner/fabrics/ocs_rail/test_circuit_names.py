"""Circuits on rails by the names of their switches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.pricing.candidates import enumerate_candidates
from planner.fabrics.demand import shape_of
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.whatif.failures import parse_failures
from tests.planner.checks.plans import job
from tests.planner.fabrics.ocs_rail.rails_cases import solved
from tests.planner.fabrics.ocs_rail.step2_cases import instance_of


@pytest.mark.slow
@given(st.sampled_from([2, 3, 4, 6, 8]), st.integers(0, 10**6), st.sets(st.integers(0, 3), max_size=2))
def test_circuits_of_any_configuration_are_matchings(devices: int, pick: int, dead: set[int]) -> None:
    """Every rank sends and receives at most once on each working switch, and so Koenig's theorem agrees."""
    health = {"failed_switches": [f"q2#{i}" for i in sorted(dead)]}
    instance = instance_of([job("any", devices)], health=health, servers=8, switches=4, ports=8)
    cluster, workload = instance.cluster, instance.jobs[0].workload
    rows = enumerate_candidates(workload, [devices], cluster.device, cluster.fabric)
    shapes = [shape_of(rows, row, cluster.fabric) for row in range(len(rows))]
    fitting = [shape for shape in shapes if 0 < shape.num_ports <= 4 - len(dead) and shape.block == 1]
    shape = fitting[pick % len(fitting)]
    held = FreeRails(cluster).circuits(shape, [(server, 2) for server in range(devices)])
    links = np.zeros((8, 8), dtype=np.int64)
    ends = set()
    for circuit in (circuit for each in held for circuit in each.circuits):
        a, b = cluster.fabric.parse_device(circuit.source)[0], cluster.fabric.parse_device(circuit.destination)[0]
        links[a, b] += len(circuit.wavelengths)
        assert not dead.intersection(circuit.wavelengths)
        for number in circuit.wavelengths:
            assert not {("from", a, number), ("to", b, number)} & ends
            ends |= {("from", a, number), ("to", b, number)}
    assert max(links.sum(axis=0).max(), links.sum(axis=1).max()) == shape.num_ports
    assert cluster.fabric.matchings(links).shape == (4, 8)


def test_switches_fail_by_name() -> None:
    instance, _ = solved()
    assert [f.kind for f in parse_failures(instance.cluster, ["q1#2", "s0.g0"])] == ["switch", "tile"]
