"""What a job is told that it lacks in a rack with pooled memory."""

from itertools import product
from typing import Any

from planner.candidates.expand import expand
from planner.fabrics import plugin_of
from planner.fabrics.free_state import FreeState
from planner.fabrics.search import Search
from planner.fabrics.sipam.shortages import SipamShortages
from planner.heuristics.greedy import place
from planner.heuristics.strategies import tightest
from planner.model.edit import pinned
from planner.model.instance import Instance
from planner.model.phrases import listed
from planner.model.plan import Plan
from planner.whatif.failures import damaged, parse_failures
from tests.planner.fabrics.joined_racks.racks import PACKETS
from tests.planner.fabrics.sipam.joined_pools import joined_pools
from tests.planner.report import rack

CHAT = {
    "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 8,
    "input_tokens": 128, "output_tokens": 64,
}  # fmt: skip


def pool(**workload: Any) -> Instance:
    """Two servers of four accelerators and twelve units of 16 GB; the job takes two accelerators."""
    sipam = {
        "kind": "sipam", "servers": 2, "accelerators_per_server": 4, "shoreline": "photonic-shoreline",
        "memory_unit": "memory-unit", "trays_per_server": 1, "units_per_tray": 12, "tray_ports": 4, "spine_rails": 4,
        "uplinks": 4, "switch_ports": 64, "alpha": "0.7 us", "reconfiguration": "25 us", "energy": "2 pJ/b",
    }  # fmt: skip
    job = {"name": "chat", "workload": CHAT | workload, "accelerators": 2}
    cluster = {"device": "h100-sxm", "fabric": sipam}
    return Instance.parse({"schema_version": 2, "name": "pool", "cluster": cluster, "jobs": [job]})


def without(instance: Instance, *units: str) -> Instance:
    return damaged(instance, parse_failures(instance.cluster, units))


def test_nothing_is_said_where_there_is_room() -> None:
    assert SipamShortages().counted(pool(), "chat", 2) is None


def test_units_are_counted_over_all_servers() -> None:
    lost = [f"s{server}.m0.u{unit}" for server in range(2) for unit in range(12)]
    assert SipamShortages().counted(without(pool(), *lost[:-1]), "chat", 2) == "needs 2 memory units, 1 are free"


def test_units_must_be_in_the_server_of_their_accelerator() -> None:
    lost = [f"s{server}.m0.u{unit}" for server in range(2) for unit in range(1, 12)]
    told = SipamShortages().counted(without(pool(), *lost), "chat", 2)
    asks = "1 accelerator in one server: 2 memory units over 1 ports of its trays"
    assert told == f"{asks}; most free in a server are 1 and 32"


def test_other_fabrics_have_none() -> None:
    instance = rack.fat_tree()
    assert plugin_of(instance.cluster.fabric).shortages.counted(instance, "solo", 1) is None


def test_units_of_a_rack_and_links_between_racks_are_counted() -> None:
    trays = product(range(3), (0, 1), (0, 1), range(8))
    lost = [f"r{number}.s{server}.m{tray}.u{unit}" for number, server, tray, unit in trays]
    bare = without(joined_pools(8), *lost[:-1])
    assert SipamShortages().counted(bare, "j0", 8) == "needs 4 memory units in a rack, 1 are free"
    few = joined_pools(6, 6, upper=PACKETS | {"oversubscription": 4})
    options = expand(few).options[0]
    thirds = [row for row in options.rows_by_value() if options.shapes[row].racks == 3]
    one = place(FreeState.empty(few.cluster), options, Search(tightest), thirds)
    assert one is not None
    told = SipamShortages().counted(pinned(few, Plan(instance=few.name, assignments=(one,)), "j1"), "j1", 6)
    parts = [f"of rack {number} are 0 free" for number in range(3)]
    assert told == f"needs 1 uplink in each of 3 racks; of the uplinks {listed(parts)}"
