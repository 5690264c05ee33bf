"""Plans of a group of ranks: rings, lines and halved widths."""

from costmodel.fabrics import NO_PLAN, LinkPlan
from costmodel.fabrics.group_plans import divisors_down
from tests.costmodel.fabrics.lightpath_cases import lightpath


def test_plans_by_dimension() -> None:
    fabric = lightpath()
    assert [*fabric.plans("tensor", 1, one_server=True)] == [NO_PLAN]
    assert [plan.wavelengths for plan in fabric.plans("pipeline", 2, one_server=True)] == [(8,), (4,), (2,), (1,)]
    assert [plan.wavelengths for plan in fabric.plans("pipeline", 3, one_server=True)] == [(4,), (2,), (1,)]
    assert [*lightpath(max_peers=1).plans("pipeline", 3, one_server=True)] == []
    near, far = (fabric.plans("data", 4, one_server=near) for near in (True, False))
    assert {plan.wavelengths for plan in far if plan.kind == "ring"} == {(8,), (4,), (2,), (1,)}
    latencies = [plan.latency_s for plan in near]
    assert latencies == sorted(set(latencies))
    shared = lightpath(waveguides="shared")
    assert [*shared.plans("data", 4, one_server=True)] == [*shared.plans("data", 4, one_server=False)]


def test_line_joins_neighbouring_stages_both_ways() -> None:
    assert LinkPlan("line", 3, wavelengths=(2,)).configurations() == (((0, 1, 2), (1, 2, 2), (1, 0, 2), (2, 1, 2)),)
    assert LinkPlan("line", 3, wavelengths=(2,)).name == "line w2"
    assert NO_PLAN.configurations() == ()


def test_transfer_joins_pairs_both_ways_without_meeting_light() -> None:
    plan = LinkPlan("transfer", 5, wavelengths=(2,), radices=(2, 3))
    there = ((0, 2, 2), (0, 3, 2), (1, 3, 2), (1, 4, 2))
    assert plan.configurations() == ((*there, *((b, a, width) for a, b, width in there)),)
    assert plan.offsets() == ((0, 2, 0, 2, 0, 2, 0, 2),)
    assert plan.name == "transfer 2 to 3 w2"
    packets = LinkPlan("transfer", 5, radices=(2, 3))
    assert packets.configurations() == packets.offsets() == ()
    assert packets.name == "transfer 2 to 3"


def test_transfers_take_turns_with_other_circuits_and_share_a_tile_among_peers() -> None:
    fabric = lightpath(max_peers=3)
    assert [plan.wavelengths for plan in fabric.transfers(2, 2, one_server=False)] == [(8,), (4,), (2,), (1,)]
    assert [plan.wavelengths for plan in fabric.transfers(1, 3, one_server=True)] == [(2,), (1,)]
    assert [*fabric.transfers(4, 1, one_server=True)] == []
    plan = fabric.transfers(1, 3, one_server=True)[0]
    assert plan.latency_s == fabric.alpha_s + 2 * fabric.reconfiguration_s
    assert plan.seconds_per_byte == 1 / (2 * fabric.wavelength_bandwidth_bytes_per_s)


def test_widths_by_halving() -> None:
    assert divisors_down(12) == (12, 6, 3, 1)
    assert divisors_down(1) == (1,)
