import pytest
from pydantic import ValidationError

from costmodel.catalog import documents
from costmodel.hardware.device import BYTES_OF_PRECISION, Device, device_names, load_device


def numeric_keys(name: str) -> set[str]:
    return set(documents()[name]) - {"kind", "name", "like", "aliases", "source", "sources"}


def test_catalog_has_the_published_devices() -> None:
    assert {"a100-sxm", "h100-sxm", "h200-sxm", "b200-sxm"} <= set(device_names())
    assert "models" not in device_names()


@pytest.mark.parametrize("name", device_names())
def test_each_number_has_a_source(name: str) -> None:
    device = load_device(name)
    assert device.name == name
    assert set(device.sources) == numeric_keys(name)
    assert all(len(text) > 10 for text in device.sources.values())


@pytest.mark.parametrize(
    ("name", "precision", "flops_per_s", "memory_bytes_per_s"),
    [
        ("a100-sxm", "bf16", 312e12, 2039e9),
        ("h100-sxm", "bf16", 989e12, 3350e9),
        ("h100-sxm", "fp8", 1979e12, 3350e9),
        ("h200-sxm", "bf16", 989e12, 4800e9),
        ("b200-sxm", "bf16", 2250e12, 8000e9),
        ("b200-sxm", "fp8", 4500e12, 8000e9),
        ("tpu-v4", "bf16", 275e12, 1200e9),
    ],
)
def test_published_peaks(name, precision, flops_per_s, memory_bytes_per_s) -> None:
    device = load_device(name)
    assert device.matrix_flops_per_s(precision) == pytest.approx(flops_per_s)
    assert device.memory_bytes_per_s == pytest.approx(memory_bytes_per_s)


@pytest.mark.parametrize(
    ("name", "limit_w"), [("a100-sxm", 400), ("h100-sxm", 700), ("b200-sxm", 1000), ("tpu-v4", 192)]
)
def test_full_load_draws_the_power_limit(name: str, limit_w: float) -> None:
    """The stated derivation of the energies, within the two digits that the files keep."""
    device = load_device(name)
    for precision, peak_flops_per_s in device.flops_per_s.items():
        matrix_w = peak_flops_per_s * device.energy_j_per_flop[precision]
        memory_w = device.memory_bytes_per_s * device.memory_j_per_byte
        assert device.idle_w + matrix_w + memory_w == pytest.approx(limit_w, rel=0.02)


@pytest.mark.parametrize(("name", "near"), [("h100-sx", "h100-sxm"), ("H200-SXN", "h200-sxm"), ("b20-sxm", "b200-sxm")])
def test_unknown_device_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean .*{near}.*known: .*a100-sxm"):
        load_device(name)


def test_nothing_near_still_lists_all() -> None:
    with pytest.raises(ValueError, match=r"unknown device 'zzz'; known: a100-sxm, b200-sxm"):
        load_device("zzz")


def test_a_precision_that_does_not_run_is_refused() -> None:
    with pytest.raises(ValueError, match="a100-sxm' does not run fp8; it runs fp32, bf16, fp16"):
        load_device("a100-sxm").matrix_flops_per_s("fp8")


@pytest.mark.parametrize("name", device_names())
def test_round_trip(name: str) -> None:
    device = load_device(name)
    assert Device.model_validate_json(device.model_dump_json()) == device
    assert set(device.model_dump(exclude_unset=True)) == set(documents()[name])


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("matrix_efficiency", 1.2, "less than or equal to 1"),
        ("memory_efficiency", 0, "greater than 0"),
        ("capacity", "80 GiBB", "unknown unit"),
        ("memory_bandwidth", "80 GB", "unknown unit"),
        ("flops", {"bf16": -1}, "greater than 0"),
        ("flops", {}, "at least 1 item"),
        ("flops", {"int4": 1.0}, "fp32"),
        ("flop_energy", {"fp32": "1 pJ/FLOP"}, "lacks bf16, fp16, fp8"),
        ("lanes", 4, "Extra inputs"),
    ],
)
def test_bad_fields_are_named(key: str, value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Device.model_validate(documents()["h100-sxm"] | {key: value})


def test_devices_are_frozen() -> None:
    with pytest.raises(ValidationError):
        load_device("h100-sxm").idle_w = 1.0


def test_bytes_of_each_precision() -> None:
    assert BYTES_OF_PRECISION == {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
