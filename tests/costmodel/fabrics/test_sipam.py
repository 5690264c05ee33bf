"""The pooled rack: its parts by name, its limits, and how I/Os are divided."""

import pytest

from costmodel.fabrics.ocs_rail import ports_of
from costmodel.hardware.device import load_device
from costmodel.workloads import TransformerInference
from tests.costmodel.fabrics.sipam_cases import fabric

H100 = load_device("h100-sxm")


def test_a_split_has_the_memory_of_its_units_and_the_io_that_is_left() -> None:
    work = TransformerInference(model="llama-3.1-8b", concurrency=8, input_tokens=64, output_tokens=64)
    pool = fabric()
    splits = {split.memory_units: split for split in pool.splits(H100, work)}
    assert set(splits) >= {1, 2, 3, 4, 6, 8, 12, 16, 24, pool.loop_units(H100, work)}
    twelve = splits[12]
    assert twelve.device.capacity_bytes == 12 * 16e9
    assert twelve.device.memory_bytes_per_s == 12 * 600e9
    assert twelve.device.launch_s == pytest.approx(H100.launch_s + 60e-9)
    assert twelve.memory_io == 4
    assert fabric(memory_grid=(5,)).splits(H100, work)[0].memory_units in (5, pool.loop_units(H100, work))


def test_combinations_stay_within_the_io_and_waste_none_inside() -> None:
    work = TransformerInference(model="llama-3.1-8b", concurrency=8, input_tokens=64, output_tokens=64)
    share = next(split.fabric for split in fabric().splits(H100, work) if split.memory_units == 12)
    menus = [share.plans(d, n, one_server=n != 4) for d, n in (("tensor", 8), ("pipeline", 2), ("data", 4))]
    menus += [share.plans("context", 1, one_server=True), share.plans("expert", 1, one_server=True)]
    found = list(share.combinations(menus, (True, True, False, True, True)))
    assert found
    for choice in found:
        taken = [ports_of(menu[place]) for menu, place in zip(menus, choice, strict=True)]
        assert sum(taken) <= 8
        assert taken[2] <= 4
        for axis in (0, 1):
            plan, spare = menus[axis][choice[axis]], 8 - sum(taken) + taken[axis]
            better = [
                other
                for other in menus[axis]
                if ports_of(other) <= spare
                and other.latency_s <= plan.latency_s
                and other.seconds_per_byte < plan.seconds_per_byte
            ]
            assert better == []
