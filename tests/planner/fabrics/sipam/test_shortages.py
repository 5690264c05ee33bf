"""What a job is told that it lacks in a rack with pooled memory."""

from typing import Any

from planner.fabrics import plugin_of
from planner.fabrics.sipam.shortages import SipamShortages
from planner.model.instance import Instance
from planner.whatif.failures import damaged, parse_failures
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
