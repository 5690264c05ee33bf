"""Failed lasers and receivers: no circuit leaves, or enters, their tile on their wavelength."""

import pytest

from planner.fabrics.lightpath.rule_lasers import check_lasers
from planner.model.errors import InputError
from planner.model.instance import Instance
from tests.planner.checks.good import ring, single, staying
from tests.planner.checks.plans import broken, rewired
from tests.planner.small_racks import rack, serving


@pytest.mark.parametrize(
    ("key", "tile", "wavelength", "rules"),
    [
        ("failed_lasers", "s0.t1", 1, {"lasers"}),
        ("failed_receivers", "s1.t0", 0, {"lasers"}),
        ("failed_lasers", "s0.t1", 2, set()),
        ("failed_receivers", "s1.t0", 3, set()),
        ("failed_lasers", "s0.t5", 0, set()),
    ],
)
def test_a_wavelength_that_is_lost(key: str, tile: str, wavelength: int, rules: set[str]) -> None:
    """The ring uses wavelengths 0 and 1 of its four tiles; 2 and 3 are as good."""
    instance, plan = ring(health={key: [{"tile": tile, "wavelength": wavelength}]})
    assert broken(instance, plan) == rules


@pytest.mark.parametrize(("wavelengths", "rules"), [("0,2", {"lasers"}), ("2,3", set())])
def test_other_wavelengths_will_do(wavelengths: str, rules: set[str]) -> None:
    instance, plan = ring(health={"failed_lasers": [{"tile": "s0.t1", "wavelength": 0}]})
    assert broken(instance, rewired(plan, "ring", f"s0.t1 s1.t0 {wavelengths} s0>s1#0")) == rules


def test_each_lost_wavelength_counts() -> None:
    lost = [{"tile": "s0.t1", "wavelength": w} for w in (0, 1)]
    instance, plan = ring(health={"failed_lasers": lost, "failed_receivers": lost})
    found = [(violation.where, violation.excess) for violation in check_lasers(instance, plan)]
    assert found == [("ring: s0.t0 to s0.t1", 2.0), ("ring: s0.t1 to s1.t0", 2.0)]


def test_a_single_device_needs_no_lasers() -> None:
    instance, plan = single()
    lost = tuple({"tile": "s0.t0", "wavelength": w} for w in range(4))
    health = type(instance.cluster.health).model_validate({"failed_lasers": lost, "failed_ports": ["s0.t0"]})
    cluster = instance.cluster.model_copy(update={"health": health})
    assert broken(instance.model_copy(update={"cluster": cluster}), plan) == set()


@pytest.mark.parametrize(("key", "end"), [("failed_lasers", "s1.t1"), ("failed_receivers", "s0.t0")])
def test_a_resident_leaves_a_lost_wavelength_but_may_keep_its_devices(key: str, end: str) -> None:
    instance, plan = staying(health={key: [{"tile": end, "wavelength": 0}]})
    assert broken(instance, plan) == {"residents", "lasers"}
    assert broken(instance, rewired(plan, "ring", "s1.t1 s0.t0 2,3 s1>s0#1")) == set()


@pytest.mark.parametrize("key", ["failed_lasers", "failed_receivers"])
def test_none_is_told_apart_where_they_light_modules_too(key: str) -> None:
    memory = {"unit": "cxl-ddr5", "units": 1, "wavelengths": 2}
    data = rack(serving("x", 1), memory=memory, health={key: [{"tile": "s0.t1", "wavelength": 1}]})
    with pytest.raises(InputError, match=r"light memory modules too; record the port of s0\.t1 in failed_ports"):
        Instance.parse(data)
