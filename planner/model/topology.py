"""A network of a few ranks as files have it: ranks, switches, links."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from costmodel.collectives.synthesis.network import Link, Network
from costmodel.spec import BytesPerSecond, Latency, Spec
from planner.model import files
from planner.model.errors import InputError

Node = int | str
Nodes = Annotated[Node | tuple[Node, ...], Field(examples=[0, [0, 1, 2, 3], "nvswitch"])]
MOST_RANKS = 64
"""of one network"""


class TopologyLink(Spec):
    """Links between nodes, one for each pair of a node of `from` and a node of `to`."""

    source: Nodes = Field(alias="from")
    """a rank by number, a switch by name, or a list of these"""
    destination: Nodes = Field(alias="to")
    """likewise"""
    bandwidth_bytes_per_s: BytesPerSecond
    """of each link, one direction"""
    alpha_s: Latency | None = None
    """from the first byte sent to the first received; that of the topology unless given"""
    both_ways: bool = True
    """whether there is one back as well"""


class Topology(Spec):
    """A network on which collectives are synthesized.

    Ranks receive, keep, add up and pass on; switches pass on alone. A link carries one chunk at a time.
    """

    schema_version: Literal[1]
    """of this format"""
    name: Annotated[str, Field(min_length=1, max_length=100)]
    """shown in tables and in exported files"""
    ranks: int = Field(ge=1, le=MOST_RANKS)
    """named 0, 1, 2, ..."""
    switches: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = ()
    """names of switches"""
    alpha_s: Latency = 0.0
    """of links that have none of their own"""
    links: tuple[TopologyLink, ...] = Field(min_length=0)
    """between ranks and switches"""

    @classmethod
    def load(cls, path: str | Path) -> "Topology":
        """Read and validate a JSON or YAML file; InputError names file, field and remedy."""
        return files.load(cls, path)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if len(set(self.switches)) < len(self.switches):
            raise ValueError("switches: a name is given twice; give each switch a name of its own")
        known: set[tuple[Node, Node]] = set()
        for number, link in enumerate(self.links):
            for source, destination in _pairs(link):
                for node in (source, destination):
                    self._require_node(node, number)
                if source == destination:
                    raise ValueError(f"links[{number}]: joins {source} to itself; leave it out")
                if (source, destination) in known:
                    raise ValueError(
                        f"links[{number}]: {source} to {destination} is given twice; give it once, with the bandwidth "
                        "of both, or set both_ways: false"
                    )
                known.add((source, destination))
        return self

    def _require_node(self, node: Node, number: int) -> None:
        if isinstance(node, str) and node not in self.switches:
            names = ", ".join(self.switches) or "none"
            raise ValueError(f"links[{number}]: no switch '{node}'; switches are {names}, ranks are numbers")
        if isinstance(node, int) and not 0 <= node < self.ranks:
            raise ValueError(f"links[{number}]: no rank {node}; ranks are 0 to {self.ranks - 1}")

    def network(self) -> Network:
        """The same with switches numbered after the ranks."""
        place: dict[Node, int] = {rank: rank for rank in range(self.ranks)}
        place |= {name: self.ranks + number for number, name in enumerate(self.switches)}
        links = (
            Link(
                place[source],
                place[destination],
                link.bandwidth_bytes_per_s,
                self.alpha_s if link.alpha_s is None else link.alpha_s,
            )
            for link in self.links
            for source, destination in _pairs(link)
        )
        return Network(self.name, self.ranks, len(self.switches), tuple(links))

    def node_name(self, number: int) -> str:
        """Of a node of `network`, as the file has it."""
        return str(number) if number < self.ranks else self.switches[number - self.ranks]


def load_network(path: str | Path) -> tuple[Topology, Network]:
    """A topology whose ranks all reach each other; InputError names the two that do not."""
    topology = Topology.load(path)
    network = topology.network()
    far_s = network.distances_s(0.0)
    for source, destination in zip(*(~(far_s < float("inf"))).nonzero(), strict=True):
        raise InputError(str(path), "links", f"no way leads from rank {source} to rank {destination}; add a link")
    return topology, network


def _pairs(link: TopologyLink) -> Iterator[tuple[Node, Node]]:
    sources, destinations = _listed(link.source), _listed(link.destination)
    for source in sources:
        for destination in destinations:
            yield source, destination
            if link.both_ways:
                yield destination, source


def _listed(nodes: Any) -> tuple[Node, ...]:
    return nodes if isinstance(nodes, tuple) else (nodes,)
