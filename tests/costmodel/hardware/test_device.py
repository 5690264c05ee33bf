import pytest
from pydantic import ValidationError

from costmodel.catalog import documents
from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import BYTES_OF_PRECISION, Device, device_names, load_device, wide_precision
from costmodel.hardware.systems import load_system, nearest_system, system_of
from costmodel.kernels.gemm import gemm_curve
from costmodel.pricing.calibration import numbers_of


def numeric_keys(name: str) -> set[str]:
    return set(documents()[name]) - {"kind", "name", "like", "aliases", "power_origin", "source", "sources"}


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
        ("b200-sxm", "fp4", 9000e12, 8000e9),
        ("b300-sxm", "fp4", 13500e12, 8000e9),
        ("gb200", "fp8", 5000e12, 8000e9),
        ("gb300", "fp4", 15000e12, 8000e9),
        ("h800", "bf16", 989e12, 3350e9),
        ("mi300x", "fp8", 2614.9e12, 5300e9),
        ("mi325x", "bf16", 1307.4e12, 6000e9),
        ("mi355x", "fp4", 10066.3e12, 8000e9),
        ("gaudi2", "fp8", 865e12, 2450e9),
        ("tpu-v5p", "int8", 918e12, 2765e9),
        ("tpu-trillium", "bf16", 918e12, 1638e9),
        ("ironwood", "fp8", 4614e12, 7380e9),
    ],
)
def test_published_peaks(name, precision, flops_per_s, memory_bytes_per_s) -> None:
    device = load_device(name)
    assert device.matrix_flops_per_s(precision) == pytest.approx(flops_per_s)
    assert device.memory_bytes_per_s == pytest.approx(memory_bytes_per_s)


@pytest.mark.parametrize(
    ("name", "limit_w"),
    [
        ("a100-sxm", 400),
        ("h100-sxm", 700),
        ("h200-sxm", 700),
        ("b200-sxm", 1000),
        ("tpu-v4", 192),
        ("gb200", 1200),
        ("gb300", 1400),
        ("b300-sxm", 1100),
        ("mi300x", 750),
        ("mi325x", 1000),
        ("mi355x", 1400),
        ("gaudi2", 600),
    ],
)
def test_full_load_meets_the_power_limit(name: str, limit_w: float) -> None:
    """Whatever the precision, operations at the peak would take more than is left beside idle power."""
    device = load_device(name)
    assert device.power_limit_w == limit_w
    assert device.idle_w + device.active_w < limit_w
    for precision, peak_flops_per_s in device.flops_per_s.items():
        matrix_w = peak_flops_per_s * device.energy_j_per_flop[precision]
        assert matrix_w > limit_w - device.idle_w - device.active_w
        assert matrix_w == pytest.approx(device.flops_per_s["bf16"] * device.energy_j_per_flop["bf16"], rel=0.02)


@pytest.mark.parametrize("name", device_names())
def test_power_takes_no_more_than_three_fitted_numbers(name: str) -> None:
    """What is neither fitted nor published says that it is an estimate, or of which part it is."""
    sources = load_device(name).sources
    keys = ("idle", "active", "flop_energy", "memory_energy", "power_limit")
    assert sum("fitted together" in sources[key] for key in keys) <= 3
    assert all(sources[key] for key in keys)


@pytest.mark.parametrize(("name", "near"), [("h100-sx", "h100-sxm"), ("H200-SXN", "h200-sxm"), ("b20-sxm", "b200-sxm")])
def test_unknown_device_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean .*{near}.*known: .*a100-sxm"):
        load_device(name)


def test_nothing_near_still_lists_all() -> None:
    with pytest.raises(ValueError, match=r"unknown device 'zzz'; known: a100-sxm, b200-sxm"):
        load_device("zzz")


def test_a_precision_that_does_not_run_is_refused() -> None:
    with pytest.raises(ValueError, match="a100-sxm' does not run fp8; it runs fp32, bf16, fp16, int8"):
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
        ("flop_energy", {"fp32": "1 pJ/FLOP"}, "lacks bf16, fp16, fp8, int8"),
        ("lanes", 4, "Extra inputs"),
        ("active", "-5 W", "greater than or equal to 0"),
        ("power_limit", "0 W", "greater than 0"),
        ("power_limit", "700 J", "unknown unit"),
    ],
)
def test_bad_fields_are_named(key: str, value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Device.model_validate(documents()["h100-sxm"] | {key: value})


def test_devices_are_frozen() -> None:
    with pytest.raises(ValidationError):
        load_device("h100-sxm").idle_w = 1.0


def test_bytes_of_each_precision() -> None:
    assert BYTES_OF_PRECISION == {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "fp4": 0.5 + 1 / 16}


def test_what_runs_beside_narrow_products_is_bf16() -> None:
    assert [wide_precision(p) for p in ("fp32", "fp16", "fp8", "int8", "fp4")] == ["fp32", "fp16", *3 * ["bf16"]]


def test_curves_come_from_the_whole_line_of_likes() -> None:
    assert load_device("gb200").ancestry == ("gb200", "b200-sxm", "h100-sxm")
    assert load_device("mi300x").ancestry == ("mi300x",)
    assert numbers_of(load_device("gb200"), "training", "bf16") == (
        numbers_of(load_device("b200"), "training", "bf16")[0],
        False,
    )
    narrow, is_fitted_here = gemm_curve(load_device("gb300"), "fp4")
    assert narrow.matrix_efficiency == gemm_curve(load_device("h100"), "fp8")[0].matrix_efficiency
    assert not is_fitted_here


@pytest.mark.parametrize(
    "device", ["gb200", "gb300", "mi300x", "mi325x", "mi355x", "tpu-v5p", "tpu-v6e", "tpu-v7", "gaudi2", "h800"]
)
def test_new_parts_are_sold_in_servers(device: str) -> None:
    system = system_of(device)
    assert system.device == load_device(device).name
    assert fat_tree_of(system, 2 * system.gpus_per_server).servers == 2


def test_nearest_servers() -> None:
    assert nearest_system(load_device("gb200")).gpus_per_server == 72
    known = documents()["h100-sxm"]
    described = {key: known[key] for key in ("capacity", "memory_bandwidth", "flops")}
    assert (
        nearest_system(Device.model_validate(described | {"name": "of-my-own", "like": "b200-sxm"})).name == "dgx-b200"
    )
    assert nearest_system(Device.model_validate(described | {"name": "of-my-own"})).name == "dgx-h100"
    with pytest.raises(ValueError, match="unknown system of device 'tpu-v4'"):
        nearest_system(load_device("tpu-v4"))


def test_a_mesh_gives_a_group_the_links_between_its_members() -> None:
    fabric = fat_tree_of(load_system("mi300x-platform"), 64)
    bytes_per_s = [
        1 / fabric.plans("tensor", n, one_server=True)[0].seconds_per_byte * 2 * (n - 1) / n for n in (2, 4, 8)
    ]
    assert bytes_per_s == pytest.approx([64e9, 192e9, 448e9])
    (exchange,) = fabric.plans("expert", 8, one_server=True)
    assert exchange.seconds_per_byte == pytest.approx(1 / 8 / 64e9)
    (forward,) = fabric.plans("pipeline", 2, one_server=True)
    assert forward.seconds_per_byte == pytest.approx(1 / 64e9)
