"""Layers above racks, by hand."""

import pytest

from costmodel.fabrics import UpperFibers, UpperLayer, UpperPackets, UpperSwitches

COMMON = {"alpha": "2 us", "energy": "10 pJ/b"}
PACKETS = UpperPackets.model_validate({"bandwidth": "50 GB/s", "oversubscription": 3, **COMMON})
SWITCHES = {"ports": 5, "radix": 7, "bandwidth": "50 GB/s", "reconfiguration": "10 ms", **COMMON}
FIBERS = {"wavelengths_per_fiber": 4, "wavelength_bandwidth": "25 GB/s", **COMMON}


def test_all_reduces_take_what_rings_and_straight_exchanges_do() -> None:
    """Two groups of 1 GB in each of 4 racks over 2 links: 3 GB forth and back on 50 GB/s each, in 6 rounds."""
    latency_s, byte_s = PACKETS.all_reduce(4, 2, 2)
    assert (latency_s, byte_s * 1e9) == pytest.approx((6 * 2e-6, 2 * 2 * 0.75 * 1e9 / 100e9))
    fibers = UpperFibers.model_validate({"fibers": 1, **FIBERS})
    latency_s, byte_s = fibers.all_reduce(4, 2, 2)
    assert (latency_s, byte_s * 1e9) == pytest.approx((2 * 2e-6, 2 * 2 * 0.25 * 1e9 / 50e9))


def test_uplinks_are_what_oversubscription_leaves() -> None:
    assert PACKETS.links_by_name((0,), 4, 16) == {"": 5}
    assert PACKETS.menu(5, 16) == (5, 2, 1)
    assert PACKETS.menu(5, 3) == (3, 1)
    assert PACKETS.menu(0, 3) == ()
    assert PACKETS.joined(3) == []


def test_switches_have_as_many_ports_of_each_rack_as_their_radix_allows() -> None:
    switches = UpperSwitches.model_validate(SWITCHES)
    assert switches.ports_by_switch(3) == {"u0": range(2), "u1": range(2, 4), "u2": range(4, 5)}
    assert switches.links_by_name((1,), 3, 16) == {"u0": 2, "u1": 2, "u2": 1}
    assert switches.joined(3) == [(0, 1), (1, 2), (2, 0)]
    assert switches.prices(15, 3) == {"optical_port": 15, "optical_switch": 3}


def test_fibers_with_too_much_loss_carry_no_light() -> None:
    bundles = [{"from": "r0", "to": "r1", "count": 2}, {"from": "r1", "to": "r0", "count": 1, "loss": "4 dB"}]
    fibers = UpperFibers.model_validate({"fibers": bundles, "loss": "1 dB", "loss_budget": "3 dB", **FIBERS})
    assert fibers.links_by_name((0, 1), 2, 16) == {"r0>r1#0": 4, "r0>r1#1": 4}
    assert fibers.links_by_name((1, 0), 2, 16) == {}
    assert fibers.parts((0, 2)) == [(0, 2), (2, 0)]


LISTED = [{"from": "r0", "to": "r1", "count": 2}, {"from": "r2", "to": "r0", "count": 3, "loss": "9 dB"}]


@pytest.mark.parametrize(
    ("layer", "most"),
    [
        (PACKETS, 5),
        (UpperSwitches.model_validate(SWITCHES), 5),
        (UpperFibers.model_validate({"fibers": 2, **FIBERS}), 8),
        (UpperFibers.model_validate({"fibers": 2, "loss": "9 dB", "loss_budget": "3 dB", **FIBERS}), 0),
        (UpperFibers.model_validate({"fibers": LISTED, "loss_budget": "3 dB", **FIBERS}), 8),
        (UpperFibers.model_validate({"fibers": [], **FIBERS}), 0),
    ],
)
def test_the_part_with_the_most_links_has_as_many(layer: UpperLayer, most: int) -> None:
    links = [sum(layer.links_by_name(part, 3, 16).values()) for part in layer.parts(range(3))]
    assert layer.most_links(16) == max(links) == most


def test_layers_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="more than the loss_budget of 1 dB; raise the budget"):
        UpperSwitches.model_validate(SWITCHES | {"loss": "2 dB", "loss_budget": "1 dB"})
    with pytest.raises(ValueError, match="less than or equal to 4096"):
        UpperFibers.model_validate({"fibers": 4097, **FIBERS})
    same = [{"from": "r0", "to": "r0", "count": 1}]
    with pytest.raises(ValueError, match=r"upper\.fibers: those from r0 to r0 must join two different racks"):
        UpperFibers.model_validate({"fibers": same, **FIBERS}).require_racks(2)
    far = [{"from": "r0", "to": "r7", "count": 1}]
    with pytest.raises(ValueError, match=r"upper\.fibers: there is no rack r7; racks are r0 to r1"):
        UpperFibers.model_validate({"fibers": far, **FIBERS}).require_racks(2)
    with pytest.raises(ValueError, match="no rack 's0'; racks have names such as r0"):
        UpperFibers.model_validate({"fibers": [{"from": "s0", "to": "r1", "count": 1}], **FIBERS}).require_racks(2)
