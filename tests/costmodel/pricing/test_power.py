"""Laws of the power of accelerators and servers, on random activity and on candidates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.device import Device, device_names, load_device
from costmodel.hardware.systems import device_overhead_w, load_system
from costmodel.pricing.power import Drawn, node_w, power_in_words, waiting_j
from costmodel.pricing.score import Scores, score
from tests.costmodel.pricing.score_cases import DEVICE, FAT_TREE, WORKLOADS, candidates_of, fabric_of
from tests.oracles.power import server_w, step_j

COLUMNS = ("busy_s", "sending_s", "compute_j", "memory_j", "tier_j")
amounts = st.lists(st.floats(0, 1e4), min_size=5, max_size=5)
devices = st.sampled_from([load_device(name) for name in device_names()])


def energies(activity: list[float], device: Device) -> dict[str, float]:
    drawn = Drawn(*(np.array([amount]) for amount in activity))
    return {
        name: float(column[0])
        for name, column in drawn.energies(device, np.array([3.0]), device.power_limit_w or np.inf).items()
    }


@given(activity=amounts, device=devices)
def test_energies_are_those_by_the_clock(activity: list[float], device: Device) -> None:
    busy_s, sending_s, compute_j, memory_j, tier_j = activity
    expected = step_j(
        device, 3, operators_s=busy_s, software_s=0.0, messages_s=sending_s, operations_j=3 * compute_j,
        bytes_j=3 * memory_j, beside_j=3 * tier_j,
    )  # fmt: skip
    assert energies(activity, device) == pytest.approx(expected, rel=1e-9)


@given(activity=amounts, device=devices)
def test_no_energy_is_negative_and_the_limit_holds(activity: list[float], device: Device) -> None:
    found = energies(activity, device)
    assert all(joules >= 0 for joules in found.values())
    busy_s, sending_s, tier_j = activity[0], activity[1], activity[4]
    own_j = sum(found.values()) - 3 * tier_j
    assert device.power_limit_w is not None
    most_j = 3 * (busy_s * (device.power_limit_w - device.idle_w) + sending_s * device.active_w)
    assert own_j <= most_j * (1 + 1e-9) + 1e-6


@given(activity=amounts, device=devices, column=st.sampled_from(range(5)), more=st.floats(0, 1e4))
def test_more_activity_never_takes_less_energy(activity: list[float], device: Device, column: int, more: float) -> None:
    busier = [amount + more * (each == column) for each, amount in enumerate(activity)]
    before, after = (sum(energies(each, device).values()) for each in (activity, busier))
    assert after >= before * (1 - 1e-9) - 1e-6


def test_a_part_whose_power_nobody_measured_is_told() -> None:
    """What a source calls an estimate is told as one, what was fitted is not; a file's own device speaks for itself."""
    for name in device_names():
        device = load_device(name)
        assert bool(power_in_words(device)) == device.sources["active"].startswith(("estimate", "assum")), name
    assert power_in_words(load_device("gb300")).endswith("gb300 was fitted on no measurement")
    assert not power_in_words(load_device("h100-sxm"))
    assert not power_in_words(Device(name="own", capacity="80 GB", memory_bandwidth="3 TB/s", flops={"bf16": 1e15}))


def test_of_so_many_steps_is_the_sum_of_each() -> None:
    one = Drawn(*(np.array([1.0 + k]) for k in range(5)))
    many = one.often(np.array([4.0]), np.array([0.5]))
    assert [getattr(many, name)[0] for name in COLUMNS] == [4 * 1.5, 8.0, 12.0, 16.0, 20.0]


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
def test_accelerators_draw_between_idle_power_and_their_limit(workload: str) -> None:
    fabric = fabric_of(FAT_TREE)
    candidates = candidates_of(WORKLOADS[workload], fabric, 1, 2, 4)
    scores = score(candidates, DEVICE, fabric)
    own_j = scores.compute_j + scores.memory_j + scores.active_j + scores.static_j
    power_w = own_j / scores.step_s / candidates.num_devices
    assert DEVICE.power_limit_w is not None
    assert np.all(power_w > DEVICE.idle_w)
    assert np.all(power_w <= DEVICE.power_limit_w * (1 + 1e-9))
    np.testing.assert_allclose(scores.node_j, scores.step_s * candidates.num_devices * 325.0)


def test_a_lower_limit_takes_from_nothing_but_its_own() -> None:
    fabric = fabric_of(FAT_TREE)
    candidates = candidates_of(WORKLOADS["training"], fabric, 1, 4)
    free, tight = (score(candidates, DEVICE.model_copy(update={"power_limit_w": w}), fabric) for w in (None, 150.0))
    for name in set(vars(free)) - {"compute_j", "memory_j", "active_j"}:
        np.testing.assert_array_equal(getattr(free, name), getattr(tight, name))
    assert np.all(_own_j(tight) < _own_j(free))
    np.testing.assert_allclose(tight.compute_j * free.memory_j, free.compute_j * tight.memory_j)


def _own_j(scores: Scores) -> np.ndarray:
    return scores.compute_j + scores.memory_j + scores.active_j


@pytest.mark.parametrize("name", device_names())
def test_servers_of_every_device_draw_power_of_their_own(name: str) -> None:
    device, fabric = load_device(name), fabric_of(FAT_TREE)
    assert node_w(device, fabric) == device_overhead_w(device) == pytest.approx(server_w(device, fabric))
    assert 0.15 < node_w(device, fabric) / (device.power_limit_w or 1) < 0.6


def test_a_fabric_states_what_its_servers_draw() -> None:
    fabric = fabric_of(FAT_TREE | {"node_overhead": "1 kW"})
    assert node_w(DEVICE, fabric) == 250.0
    assert node_w(DEVICE, fabric_of(FAT_TREE | {"node_overhead": "0 W"})) == 0.0
    waited = waiting_j(np.array([2.0]), DEVICE, fabric, np.array([3.0]))
    assert {each: float(column[0]) for each, column in waited.items()} == {"static_j": 480.0, "node_j": 1500.0}


def test_servers_of_a_described_device_are_the_usual_ones() -> None:
    peaks = {"capacity_bytes": 1e11, "memory_bytes_per_s": 1e12, "flops_per_s": {"bf16": 1e15}}
    usual = load_system("dgx-h100").node_overhead_w / 8
    described = Device(name="mine", **peaks)
    assert device_overhead_w(described) == usual
    assert device_overhead_w(described.model_copy(update={"power_limit_w": 350.0})) == usual / 2
    assert device_overhead_w(described.model_copy(update={"like": "b200-sxm"})) == 445.0
