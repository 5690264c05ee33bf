"""What keeps a workload from having a candidate, held against listing itself."""

import pytest

from costmodel.pricing.listing import listed_and_priced
from costmodel.pricing.remedies import remedies
from costmodel.pricing.unlisted import KINDS, lack_of
from tests.costmodel.pricing.unlisted_cases import ASKED, H100, HURRIED, LLAMA, WORKLOADS, count, fabric, workload
from tests.fabrics import FABRICS


@pytest.mark.slow
@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("job", WORKLOADS)
def test_something_lacks_exactly_where_nothing_is_listed(name: str, job: str) -> None:
    on, asked, kinds = fabric(name), workload(WORKLOADS[job]), set()
    for size in (1, 3, 8, 64):
        for limits in ASKED:
            lack = lack_of(asked, size, H100, on, limits)
            assert (lack is None) == bool(count(asked, size, on, limits)), (size, limits, lack)
            kinds.add(None if lack is None else lack.kind)
    assert {"limit"} < kinds <= {None, *KINDS}


@pytest.mark.parametrize("name", FABRICS)
def test_users_wait_too_long_exactly_where_nothing_is_listed(name: str) -> None:
    on, kinds = fabric(name), set()
    patient = workload({key: value for key, value in HURRIED.items() if key != "limits"})
    alone_s = float(listed_and_priced(patient, [1], H100, on)[1].tpot_s.min())
    asked = workload(HURRIED | {"limits": {"tpot": f"{0.9e3 * alone_s} ms"}})
    for size in (1, 2, 8):
        lack = lack_of(asked, size, H100, on)
        assert (lack is None) == bool(count(asked, size, on)), (size, lack)
        kinds.add(None if lack is None else lack.kind)
    assert kinds == {None, "waiting"}


def test_only_the_nearest_size_misses_a_limit_by_least() -> None:
    few, more = (lack_of(workload(HURRIED), size, H100, fabric("fat_tree")) for size in (1, 2))
    assert few is not None
    assert more is None or few.excess > more.excess > 1


@pytest.mark.parametrize("size", [256, 512, 1024])
def test_layers_without_equal_stages_are_named_and_the_remedy_works(size: int) -> None:
    on = fabric("fat_tree", servers=128)
    alike = workload(LLAMA | {"uneven_stages": False})
    lack = lack_of(alike, size, H100, on)
    assert lack is not None
    assert lack.kind == "memory"
    assert "126 layers divide into 2 equal stages at most" in lack.text
    assert "uneven_stages: true" in remedies(alike, size, H100, on)
    assert lack_of(workload(LLAMA), size, H100, on) is None
    assert count(workload(LLAMA), size, on)


def test_groups_without_a_collective_are_named() -> None:
    """Two ports of a rail are too few for seven others at once."""
    asked = WORKLOADS["experts"] | {"model": SMALL_EXPERTS}
    on = fabric("ocs_rail", servers=8, gpus_per_server=1, switches=2)
    lack = lack_of(workload(asked), 8, H100, on)
    assert lack is not None
    assert lack.kind == "groups"
    assert "no collective for expert groups of 8" in lack.text
    assert "expert left out" in remedies(workload(asked), 8, H100, on)


@pytest.mark.parametrize("name", ["torus", "sipac", "sipam"])
def test_fabrics_whose_pools_are_alike_say_so(name: str) -> None:
    asked = WORKLOADS["pools"] | {"prefill_tensor": 1, "decode_tensor": 2}
    lack = lack_of(workload(asked), 4, H100, fabric(name))
    assert lack is not None
    assert lack.kind == "groups"
    assert f"on a fabric of kind {name} both pools have the same degrees; give prefill_tensor as" in lack.text


def test_pools_that_meet_too_many_peers_are_named() -> None:
    asked = WORKLOADS["pools"] | {
        "model": SMALL_EXPERTS | {"experts": 1, "experts_per_token": 1, "heads": 1, "kv_heads": 1}
    }
    on = fabric("lightpath", max_peers=2)
    assert lack_of(workload(asked | {"prefill_accelerators": 3}), 6, H100, on) is None
    lack = lack_of(workload(asked | {"prefill_accelerators": 1}), 6, H100, on)
    assert lack is not None
    assert "more replicas to meet than peers" in lack.text


def test_context_groups_over_servers_of_rails_are_named() -> None:
    asked = WORKLOADS["small"] | {"sequence": 16384, "context": 32}
    lack = lack_of(workload(asked), 32, H100, fabric("ocs_rail"))
    assert lack is not None
    assert "context groups of 32" in lack.text


@pytest.mark.parametrize("name", ["lightpath", "torus", "sipam"])
def test_racks_without_links_between_them_are_named(name: str) -> None:
    """A job of two racks lacks wavelengths where there is no fiber, and nothing where there is one."""
    upper = {"kind": "fibers", "fibers": 0, "wavelength_bandwidth": "12.5 GB/s", "alpha": "2 us", "energy": "8 pJ/b"}
    dark = fabric(name, racks=2, upper=upper)
    size, asked = 2 * dark.devices_per_rack, workload(WORKLOADS["small"])
    lack = lack_of(asked, size, H100, dark)
    assert lack is not None
    assert lack.kind == "groups"
    assert lack.text.startswith("needs several racks of ")
    assert lack.text.endswith(", and no wavelength joins these")
    assert lack_of(asked, size, H100, fabric(name, racks=2, upper=upper | {"fibers": 1})) is None


def test_racks_without_links_are_not_named_where_links_would_be_of_no_use() -> None:
    """Data groups of a slice reach no further than a box of switches, in each rack."""
    upper = {"kind": "fibers", "fibers": 0, "wavelength_bandwidth": "12.5 GB/s", "alpha": "2 us", "energy": "8 pJ/b"}
    texts = set()
    for fibers in (0, 1):
        lack = lack_of(
            workload(WORKLOADS["small"]), 64, H100, fabric("sipac", racks=2, upper=upper | {"fibers": fibers})
        )
        assert lack is not None
        texts.add(lack.text)
    assert texts == {"no slice has 64 accelerators as the job divides; sizes of slices are 1, 2, 4, 8"}


def test_servers_that_nothing_joins_are_named() -> None:
    on = fabric("sipam", uplinks=0)
    lack = lack_of(workload(WORKLOADS["small"]), on.devices_per_rack, H100, on)
    assert lack is not None
    assert lack.text.endswith("and nothing joins these")


SMALL_EXPERTS = {
    "layers": 8, "hidden": 512, "heads": 8, "kv_heads": 8, "head_dim": 64, "ffn": 1024, "experts": 8,
    "experts_per_token": 2, "vocabulary": 32000,
}  # fmt: skip
