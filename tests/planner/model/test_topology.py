"""Networks from files."""

from pathlib import Path

import pytest
import yaml

from planner.model.errors import InputError
from planner.model.topology import Topology, load_network
from tests.paths import ROOT

SHIPPED = sorted((ROOT / "instances" / "topologies").glob("*.yaml"))
CONTENT = {
    "schema_version": 1, "name": "box", "ranks": 3, "switches": ["s"], "alpha": "1 us",
    "links": [
        {"from": [0, 1, 2], "to": "s", "bandwidth": "50 GB/s"},
        {"from": 0, "to": 1, "bandwidth": "25 GB/s", "alpha": "2 us", "both_ways": False},
    ],
}  # fmt: skip


def _load(folder: Path, **changes: object) -> Topology:
    path = folder / "box.yaml"
    path.write_text(yaml.safe_dump(CONTENT | changes), "utf-8")
    return load_network(path)[0]


def test_lists_of_nodes_are_pairs(tmp_path: Path) -> None:
    network = _load(tmp_path).network()
    assert (network.ranks, network.switches, len(network.links)) == (3, 1, 7)
    assert [(link.source, link.destination) for link in network.links[:2]] == [(0, 3), (3, 0)]
    assert (network.links[6].bytes_per_s, network.links[6].alpha_s, network.links[0].alpha_s) == (25e9, 2e-6, 1e-6)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"links": [{"from": 0, "to": 5, "bandwidth": "1 GB/s"}]}, "no rank 5; ranks are 0 to 2"),
        ({"links": [{"from": 0, "to": "t", "bandwidth": "1 GB/s"}]}, "no switch 't'; switches are s"),
        ({"links": [{"from": 0, "to": 0, "bandwidth": "1 GB/s"}]}, "joins 0 to itself"),
        ({"links": [{"from": [0, 1], "to": [1, 2], "bandwidth": "1 GB/s"}]}, "joins 1 to itself"),
        ({"links": [{"from": 0, "to": [1, 1], "bandwidth": "1 GB/s"}]}, "0 to 1 is given twice"),
        ({"links": [{"from": 0, "to": 1, "bandwidth": "1 GB/s"}]}, "no way leads from rank 0 to rank 2; add a link"),
        ({"switches": ["s", "s"]}, "a name is given twice"),
        ({"ranks": 65}, "ranks"),
        ({"speed": 1}, "speed"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, changes: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match="box.yaml.*" + problem):
        _load(tmp_path, **changes)


def test_nodes_keep_their_names(tmp_path: Path) -> None:
    assert [_load(tmp_path).node_name(number) for number in range(4)] == ["0", "1", "2", "s"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_ones_load(path: Path) -> None:
    topology, network = load_network(path)
    assert topology.name == path.stem
    assert network.reversed().ranks == topology.ranks


def test_there_are_shipped_ones() -> None:
    assert len(SHIPPED) >= 7
