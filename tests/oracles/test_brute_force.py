"""The enumerator on cases solved by hand."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from tests.oracles.brute_force import BruteForce, brute_force
from tests.oracles.light import LightSearch
from tests.oracles.light_paths import Light, LightPaths
from tests.oracles.tiny_instances import SMALL, tiny_instance
from tests.seeds import seeds

Fields = dict[str, Any]


def lightpath(**fields: Any) -> Fields:
    """Two servers of two tiles, one fiber each way, four wavelengths."""
    return {
        "kind": "lightpath",
        "servers": 2,
        "tiles_per_server": 2,
        "wavelengths_per_tile": 4,
        "wavelength_bandwidth": "10 GB/s",
        "max_peers": 3,
        "fibers": 1,
        "wavelengths_per_fiber": 4,
        "alpha": "0.7 us",
        "reconfiguration": "3.7 us",
        "energy": "1 pJ/b",
    } | fields


def tensor_job(name: str, size: int, **fields: Any) -> Fields:
    """Pays its weight however it runs; its ranks form one tensor group, as one user needs no replica."""
    workload = {
        "kind": "transformer_inference",
        "model": SMALL,
        "concurrency": 1,
        "input_tokens": 64,
        "output_tokens": 64,
    }
    job = {"name": name, "workload": workload, "accelerators": size, "utility": "step", "step_at": 1e-9}
    return job | fields


def ring_resident(devices: Sequence[str], wavelengths: list[int], fiber: int | None, **fields: Any) -> Fields:
    """Two ranks joined by a circuit each way, immovable."""
    a, b = devices
    circuits = [
        {
            "from": x,
            "to": y,
            "wavelengths": wavelengths,
            "fibers": [] if fiber is None else [f"{x[:2]}>{y[:2]}#{fiber}"],
        }
        for x, y in ((a, b), (b, a))
    ]
    ring = {"kind": "ring", "wavelengths": [len(wavelengths)]}
    place = {
        "devices": list(devices),
        "configuration": {"tensor": 2, "tensor_collective": ring},
        "circuits": [{"dimension": "tensor", "circuits": circuits}],
        "movable": False,
    }
    return tensor_job("running", 2) | place | fields


def single(name: str, device: str, **fields: Any) -> Fields:
    """An immovable job of one rank."""
    return tensor_job(name, 1) | {"devices": [device], "configuration": {}, "movable": False} | fields


def solve(fabric: Fields, *jobs: Fields, health: Fields | None = None, **fields: Any) -> BruteForce | None:
    return brute_force(
        Instance.parse(
            {
                "schema_version": 2,
                "name": "case",
                "cluster": {"device": "h100-sxm", "fabric": fabric, "health": health or {}},
                "jobs": [job for job in jobs if "devices" not in job],
                "residents": [job for job in jobs if "devices" in job],
            }
            | fields
        )
    )


RING = {"collective": "ring"}


def test_second_ring_takes_the_wavelengths_that_the_first_leaves_on_the_only_fiber() -> None:
    running = ring_resident(("s0.t0", "s1.t0"), [1, 3], 0)
    found = solve(lightpath(), running, tensor_job("new", 2, utility="linear", constraints=RING))
    assert found is not None
    circuits = found.plan["new"].circuits[0].circuits
    assert {c.wavelengths for c in circuits} == {(0, 2)}
    assert {c.fibers for c in circuits} == {("s0>s1#0",), ("s1>s0#0",)}
    cluster = Cluster.model_validate({"device": "h100-sxm", "fabric": lightpath()})
    workload = Job.model_validate(tensor_job("new", 2)).workload
    listed = enumerate_candidates(workload, (2,), cluster.device, cluster.fabric, collective="ring")
    widths = [listed.configuration(row).tensor_collective.wavelengths[0] for row in range(len(listed))]
    speed = dict(zip(widths, score(listed, cluster.device, cluster.fabric).speed, strict=True))
    assert found.values["value"] == pytest.approx(1 + speed[2] / speed[4])


@pytest.mark.parametrize(("carried", "fibers", "value"), [(2, 1, 1.0), (2, 2, 2.0), (3, 1, 2.0)])
def test_ring_needs_a_wavelength_or_a_fiber_of_its_own(carried: int, fibers: int, value: float) -> None:
    fabric = lightpath(wavelengths_per_fiber=carried, fibers=fibers)
    found = solve(fabric, ring_resident(("s0.t0", "s1.t0"), [0, 1], 0), tensor_job("new", 2))
    assert found is not None
    assert found.values["value"] == value


@pytest.mark.parametrize(("carried", "runs"), [(1, False), (2, True)])
def test_tile_that_fans_out_needs_two_wavelengths_however_many_fibers(carried: int, runs: bool) -> None:
    fabric = lightpath(wavelengths_per_tile=2, wavelengths_per_fiber=carried, fibers=2, max_peers=2)
    job = tensor_job("new", 3, required=True, constraints={"collective": "exchange"})
    assert (solve(fabric, job) is not None) == runs


@pytest.mark.parametrize(("waveguides", "value"), [("dedicated", 2.0), ("shared", 1.0)])
def test_jobs_meet_between_tiles_only_where_waveguides_are_shared(waveguides: str, value: float) -> None:
    """Fibers 0 and 3 both leave at slot 0, so light from slot 1 and from slot 2 crosses the same boundary."""
    fabric = lightpath(tiles_per_server=3, wavelengths_per_tile=2, fibers=4, waveguides=waveguides)
    failed = [{"from": f"s{a}", "to": f"s{1 - a}", "index": i} for a in (0, 1) for i in (1, 2)]
    health = {"failed_tiles": ["s0.t0", "s1.t0"], "failed_fibers": failed}
    running = ring_resident(("s0.t2", "s1.t2"), [0, 1], 0)
    found = solve(fabric, running, tensor_job("new", 2), health=health)
    assert found is not None
    assert found.values["value"] == value


def test_required_job_across_servers_needs_a_healthy_fiber_each_way() -> None:
    job = tensor_job("new", 2, required=True)
    fabric = lightpath(tiles_per_server=1)
    assert solve(fabric, job) is not None
    assert solve(fabric, job, health={"failed_fibers": [{"from": "s1", "to": "s0", "index": 0}]}) is None
    assert solve(fabric | {"fibers": [{"from": "s0", "to": "s1", "count": 1}]}, job) is None


@pytest.mark.parametrize(("budget", "runs"), [("1.5 dB", False), ("2.0 dB", True)])
def test_loss_counts_boundaries_on_both_sides_and_the_fiber(budget: str, runs: bool) -> None:
    """From slot 1 to the fiber at slot 0 and on to slot 1: two boundaries of 0.5 dB, and 1 dB of fiber."""
    fabric = lightpath(loss_per_tile="0.5 dB", loss_per_fiber="1 dB", loss_budget=budget)
    job = tensor_job("new", 2, required=True)
    health = {"failed_tiles": ["s0.t0", "s1.t0"]}
    assert (solve(fabric, job, health=health) is not None) == runs


def test_displaced_resident_pays_for_its_move() -> None:
    running = ring_resident(("s0.t0", "s0.t1"), [0], None, movable=True, move_cost=2.5)
    stays = solve(lightpath(), running)
    assert stays is not None
    assert stays.values["moves"] == 0.0
    assert not stays.plan["running"].is_moved
    moves = solve(lightpath(), running, health={"failed_tiles": ["s0.t1"]})
    assert moves is not None
    assert moves.values["moves"] == 2.5
    assert moves.plan["running"].is_moved


@pytest.mark.parametrize(
    ("fibers", "value"),
    [(0, 0.5), (1, 0.0), ([{"from": "s0", "to": "s1", "count": 1}], 0.5)],
)
def test_free_tiles_of_two_servers_form_a_slice_if_a_fiber_runs_each_way(fibers: Any, value: float) -> None:
    """One tile of each server is free: size 1 always fits, size 2 only across."""
    found = solve(
        lightpath(fibers=fibers),
        single("a", "s0.t0"),
        single("b", "s1.t1"),
        size_distribution={1: 1, 2: 1},
    )
    assert found is not None
    assert found.values["fragmentation"] == pytest.approx(value)


@pytest.mark.parametrize(("fibers", "value"), [(1, 2 / 3), (2, 0.0)])
def test_fiber_that_carries_light_joins_no_slice(fibers: int, value: float) -> None:
    """Two tiles of each server are free: sizes 3 and 4 need a dark fiber; size 5 counts as fitting."""
    found = solve(
        lightpath(tiles_per_server=3, fibers=fibers),
        ring_resident(("s0.t0", "s1.t0"), [2], 0),
        size_distribution={3: 1, 4: 1, 5: 1},
    )
    assert found is not None
    assert found.values["fragmentation"] == pytest.approx(value)


def test_required_job_that_is_larger_than_what_is_healthy_is_infeasible() -> None:
    job = tensor_job("new", 4, required=True)
    assert solve(lightpath(fibers=4), job) is not None
    assert solve(lightpath(fibers=4), job, health={"failed_tiles": ["s1.t0"]}) is None


@pytest.mark.parametrize(("tolerance", "energy"), [(0.0, 11.0), (0.1, 10.0)])
def test_tolerance_of_a_level_is_spent_by_the_next(tolerance: float, energy: float) -> None:
    """Without the small job the value falls from 11 to 10, by less than a tenth."""
    found = solve(
        lightpath(),
        tensor_job("large", 1, weight=10),
        tensor_job("small", 1, weight=1),
        objectives=[{"name": "value", "tolerance": tolerance}, "energy"],
    )
    assert found is not None
    assert found.values == {"value": pytest.approx(11.0), "energy": pytest.approx(energy)}


def test_job_spans_racks_over_electrical_switches_only() -> None:
    """Two replicas, which need no light."""
    job = tensor_job("new", 2, required=True)
    job["workload"] = job["workload"] | {"concurrency": 2}
    health = {"failed_tiles": ["r0.s0.t0", "r1.s0.t0"]}
    assert solve(lightpath(racks=2, servers=1), job, health=health) is None
    tree = {
        "kind": "fat_tree",
        "racks": 2,
        "servers": 1,
        "gpus_per_server": 2,
        "nvlink_bandwidth": "400 GB/s",
        "nvlink_alpha": "1 us",
        "nvlink_energy": "1 pJ/b",
        "network_bandwidth": "40 GB/s",
        "network_alpha": "5 us",
        "network_energy": "10 pJ/b",
    }
    assert solve(tree, job, health={"failed_tiles": ["r0.s0.g0", "r1.s0.g0"]}) is not None


def test_device_without_a_port_runs_single_ranks_only() -> None:
    health = {"failed_ports": ["s0.t0", "s0.t1", "s1.t0"]}
    found = solve(lightpath(), tensor_job("pair", 2, weight=5), tensor_job("one", 1), health=health)
    assert found is not None
    assert found.plan.admitted == ("one",)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(30))
def test_symmetries_that_the_search_uses_change_no_value(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = tiny_instance(seed)
    expected = brute_force(instance)

    def all_ways(self: LightSearch, state: object, lights: Sequence[Light]) -> Iterator[Light]:
        return iter(lights)

    original = LightPaths.__init__

    def told_apart(self: LightPaths, *args: Any) -> None:
        original(self, *args)
        self.slots_matter = True

    monkeypatch.setattr(LightSearch, "_distinct", all_ways)
    monkeypatch.setattr(LightPaths, "__init__", told_apart)
    found = brute_force(instance)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found.values == pytest.approx(expected.values, rel=1e-9, abs=1e-9)
