"""What one more part of a rack would add."""

from math import sqrt

import pytest

from planner.fabrics.lightpath.more_fibers import with_fibers, with_joined_server
from planner.fabrics.lightpath.upgrades import LightpathUpgrades
from planner.model.edit import edited, only, repaired, with_fabric
from planner.model.instance import Instance
from tests.planner.explain.marginal_cases import fastest, gains
from tests.planner.small_racks import Fields, rack, serving, training


def test_a_server_a_tile_and_a_repair_that_each_admit_one_more_job() -> None:
    jobs = [training("a", 2), training("b", 2, weight=3)]
    data = rack(*jobs, servers=1, fibers=1, health={"failed_tiles": ["s0.t1"]})
    found = gains(data)
    assert found["repair of s0.t1"] == pytest.approx(1.0)
    assert found["one more server"] == pytest.approx(1.0)
    assert found["one more tile per server"] == pytest.approx(1.0)
    assert found["max_peers 3 -> 4"] == 0.0


def test_faster_switch_and_more_peers_count_against_the_old_fastest() -> None:
    job = training("x", 8, constraints={"collective": "radix"})
    data = rack(job, servers=1, tiles=8, max_peers=1, reconfiguration="2 ms")
    instance = Instance.parse(data)
    now = fastest(instance, "x")
    found = gains(data)
    changes: dict[str, Fields] = {
        "reconfiguration 2000 us -> 0 us": {"reconfiguration_s": 0.0},
        "max_peers 1 -> 2": {"max_peers": 2},
    }
    for change, fields in changes.items():
        then = fastest(with_fabric(instance, **fields), "x")
        assert then > now
        assert found[change] == pytest.approx(sqrt(then / now) - 1, abs=1e-6)


def test_derived_instances_leave_the_original_alone_and_forget_what_was_cached() -> None:
    instance = Instance.parse(rack(serving("x", 2), fibers=1, health={"failed_tiles": ["s0.t1"]}))
    assert instance.cluster.num_healthy == 7
    assert len(instance.cluster.failed_devices) == 1
    assert repaired(instance).cluster.num_healthy == 8
    assert repaired(instance, "s0.t1").cluster.num_healthy == 8
    assert with_joined_server(instance).cluster.fabric.num_fibers(0, 2) == 1
    more = with_fibers(instance, {(0, 1): 2}).cluster.fabric
    assert (more.num_fibers(0, 1), more.num_fibers(1, 0)) == (3, 1)
    assert with_joined_server(with_fibers(instance, {(0, 1): 2})).cluster.fabric.num_fibers(2, 0) == 1
    assert only(instance, "x").jobs[0].required
    assert instance == Instance.parse(rack(serving("x", 2), fibers=1, health={"failed_tiles": ["s0.t1"]}))
    with pytest.raises(ValueError, match="greater than"):
        edited(instance.jobs[0], weight=-1.0)


def test_one_more_module_is_offered_while_it_leaves_circuits_a_wavelength() -> None:
    memory = {"unit": "cxl-ddr5", "units": 1, "wavelengths": 1}
    name, offered = "one more memory module behind each tile", []
    for units in (1, 2, 3):
        instance = Instance.parse(rack(serving("x", 1), memory=memory | {"units": units}))
        found = {each.change: each.instance for each in LightpathUpgrades().of(instance, None)}
        offered.append(name in found)
        if name in found:
            assert found[name].cluster.fabric == edited(instance.cluster.fabric, memory=memory | {"units": units + 1})
    assert offered == [True, True, False]
