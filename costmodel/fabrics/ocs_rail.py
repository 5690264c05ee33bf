"""Rails of optical circuit switches: accelerators of one slot in all servers, joined by matchings."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from costmodel.collectives.circulant_offers import Offered
from costmodel.collectives.limits import Limits
from costmodel.fabrics import packets
from costmodel.fabrics.base import FabricBase, Split
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan, LinkPlan
from costmodel.fabrics.held_plans import held_all_to_alls, held_reductions, held_transfers
from costmodel.fabrics.inventory import INDEX, PriceClass
from costmodel.fabrics.turns import EVERY, SwitchingInside, Turns, choices_in_turns, has_every_kind, most_at_once
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import Dimension
from costmodel.parallelism.pools import most_peers
from costmodel.spec import BytesPerSecond, JoulesPerByte, Latency, SwitchingTime

if TYPE_CHECKING:
    from costmodel.workloads import Workload

Ints = NDArray[np.int64]
MAX_SWITCHES = 64
"""most switches of a rail"""
FREE = -1
"""no circuit"""


def ports_of(plan: GroupPlan) -> int:
    """Ports by which each rank of a group sends, and as many by which it receives, while all circuits are held."""
    if not plan.wavelengths:
        return 0
    if plan.kind == "line":
        return plan.wavelengths[0] * (1 if plan.ranks == 2 else 2)
    if plan.kind == "ring":
        return plan.wavelengths[0]
    if plan.kind == "transfer":
        return most_peers(*plan.radices) * plan.wavelengths[0]
    if plan.kind in ("circulant", "circulant_relay"):
        return len(plan.radices) * plan.wavelengths[0]
    return sum((radix - 1) * width for radix, width in zip(plan.radices, plan.wavelengths, strict=True))


class OcsRail(FabricBase):
    """Servers whose GPUs share an NVLink switch; GPUs of one slot in all servers are a rail.

    Each rail has `switches` optical circuit switches, and every GPU of the rail one port, in and out, into each of
    them; a circuit of width w takes w switches. Switches turn slowly: a job holds the circuits of all its dimensions
    at once, for as long as it runs, or where `switching` allows it in turns. Rails join the servers of all racks.
    Bandwidths are one direction, per GPU.
    """

    links_racks = True
    measures_fragmentation = False

    kind: Literal["ocs_rail"] = "ocs_rail"
    gpus_per_server: int = Field(ge=1, le=1024)
    """slot i of every server belongs to rail i"""
    nvlink_bandwidth_bytes_per_s: BytesPerSecond
    """inside a server"""
    nvlink_alpha_s: Latency
    """fixed time of a message inside a server"""
    nvlink_energy_j_per_byte: JoulesPerByte
    """of a byte inside a server"""
    switches: int = Field(ge=1, le=MAX_SWITCHES)
    """of one rail"""
    ports: int = Field(ge=1, le=65536)
    """of one switch, 136 or 300 in products, more where several in stages count as one: at most so many servers can be
    joined"""
    port_bandwidth_bytes_per_s: BytesPerSecond
    """one port"""
    port_energy_j_per_byte: JoulesPerByte
    """of a byte over a circuit"""
    alpha_s: Latency
    """fixed time of a message over a circuit"""
    reconfiguration_s: SwitchingTime
    """time to set circuits, before a job starts and while it runs"""
    switching: Literal["held", "phases"] = Field(default="held", exclude_if=lambda switching: switching == "held")
    """phases: circuits of a job may take turns at its ports from phase to phase of a step, which its software has to
    ask switches for; held: all of them are on as long as the job runs"""
    collectives: Offered = Field(default="families", exclude_if=lambda offered: offered == "families")
    """circulants: groups may also hold circuits that lead a few fixed numbers of ranks ahead, with schedules for them
    that software of the job reads; families: rings, mixed radices, exchanges and relays alone"""

    @model_validator(mode="after")
    def _servers_fit(self) -> Self:
        if self.num_servers > self.ports:
            raise ValueError(f"ports: {self.ports} cannot join {self.num_servers} servers; give one for each server")
        return self

    @property
    def places_whole_jobs(self) -> bool:
        return True

    @property
    def devices_per_server(self) -> int:
        return self.gpus_per_server

    @property
    def stage_s(self) -> float:
        return self.reconfiguration_s + self.alpha_s

    @property
    def has_circuits(self) -> bool:
        return True

    @property
    def limits(self) -> Limits:
        """What a GPU may hold at a time on its rail, each port as a wavelength."""
        rate = self.port_bandwidth_bytes_per_s
        return Limits(self.switches, self.switches, self.alpha_s, self.reconfiguration_s, rate)

    @property
    def num_optical_switches(self) -> int:
        return self.gpus_per_server * self.switches

    def _port_prices(self) -> Mapping[PriceClass, int]:
        return {"optical_port": self.num_devices * self.switches}

    def switch_name(self, rail: int, index: int) -> str:
        return f"q{rail}#{index}"

    @property
    def switch_names(self) -> tuple[str, ...]:
        rails = range(self.gpus_per_server)
        return tuple(self.switch_name(rail, index) for rail in rails for index in range(self.switches))

    def parse_switch(self, name: str) -> tuple[int, int]:
        """Rail and number in it of a switch; ValueError names the right form."""
        match = re.fullmatch(f"q({INDEX})#({INDEX})", name)
        if match and int(match[1]) < self.gpus_per_server and int(match[2]) < self.switches:
            return int(match[1]), int(match[2])
        last = self.switch_name(self.gpus_per_server - 1, self.switches - 1)
        raise ValueError(f"no switch '{name}'; switches are {self.switch_name(0, 0)} to {last}")

    @property
    def node_bytes_per_s(self) -> float:
        return self.nvlink_bandwidth_bytes_per_s

    def blocks(self, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        """The whole job in one server, or one block in each: then every group lies inside a server or across."""
        whole = self.gpus_per_server
        return sorted({size for size in (spans[0], spans[1], spans[3], num_devices) if size <= whole})

    def plans(self, dimension: Dimension, ranks: int, *, one_server: bool, per_server: int = 1) -> Sequence[GroupPlan]:
        if ranks == 1:
            return (NO_PLAN,)
        if one_server:
            return self._inside(dimension, ranks)
        if per_server > 1 or ranks > self.num_servers:
            return ()
        if dimension == "pipeline":
            return self._lines(ranks)
        if dimension == "tensor":
            return ()
        limits = self.switches, self.alpha_s, self.port_bandwidth_bytes_per_s, self.collectives
        return held_all_to_alls(ranks, *limits) if dimension == "expert" else held_reductions(dimension, ranks, *limits)

    def transfers(
        self, prefill: int, decode: int, *, one_server: bool, each: tuple[int, int] = (1, 1)
    ) -> Sequence[GroupPlan]:
        """Circuits of all pairs at once, over any number of ports that the busiest replica has for each peer.

        Rails join ranks of one slot: pools of other degrees have no fellows there.
        """
        if one_server:
            return (packets.transfer(prefill, decode, self.nvlink_alpha_s, self.nvlink_bandwidth_bytes_per_s, each),)
        if prefill + decode > self.num_servers or each != (1, 1):
            return ()
        return held_transfers(prefill, decode, self.switches, self.alpha_s, self.port_bandwidth_bytes_per_s)

    def _inside(self, dimension: Dimension, ranks: int) -> Sequence[GroupPlan]:
        alpha_s, rate = self.nvlink_alpha_s, self.nvlink_bandwidth_bytes_per_s
        if dimension == "pipeline":
            return (packets.forward(ranks, alpha_s, rate),)
        if dimension == "expert":
            return (packets.all_to_all(ranks, alpha_s, (ranks - 1) / ranks / rate),)
        return packets.all_reduces(ranks, alpha_s, rate, rate)

    def _lines(self, stages: int) -> tuple[GroupPlan, ...]:
        """Pipeline stages in a line over any number of ports that the inner stages have for two neighbours."""
        rate, neighbours = self.port_bandwidth_bytes_per_s, 1 if stages == 2 else 2
        return tuple(
            LinkPlan("line", stages, self.alpha_s, 1 / (width * rate), 1.0, (width,))
            for width in range(self.switches // neighbours, 0, -1)
        )

    def splits(self, device: Device, workload: "Workload | None" = None) -> tuple[Split, ...]:
        """All circuits at once, and where `switching` allows it every way to take turns."""
        in_turns = self._in_turns if self.switching == "phases" else ()
        return (Split(device, self), *(Split(device, each) for each in in_turns))

    @cached_property
    def _in_turns(self) -> "tuple[RailsInTurns, ...]":
        fields = {name: getattr(self, name) for name in OcsRail.model_fields}
        return tuple(RailsInTurns.model_validate(fields | {"taken": turns}) for turns in EVERY)

    def combines(self, plans: Sequence[GroupPlan]) -> bool:
        """Whether the ports suffice for all circuits at once, and the servers for one block each."""
        return self._has_servers(plans) and sum(map(ports_of, plans)) <= self.switches

    def _has_servers(self, plans: Sequence[GroupPlan]) -> bool:
        tensor, stages, data, context, experts = (plan.ranks if plan.wavelengths else 1 for plan in plans)
        return tensor * stages * max(data, context * experts) <= self.num_servers

    def network_j_per_byte(self, one_server: bool) -> float:
        return self.nvlink_energy_j_per_byte if one_server else self.port_energy_j_per_byte

    def matchings(self, links: Ints) -> Ints:
        """Receiving server of each sending one by switch of one rail, FREE for none, shape (switches, servers).

        `links[a, b]` is the number of circuits from server a to b. They can be held if and only if no server sends or
        receives more than `switches` of them (Koenig), none to itself; ValueError otherwise.
        """
        links, servers = np.asarray(links), self.num_servers
        if links.shape != (servers, servers) or (links < 0).any() or links.diagonal().any():
            raise ValueError(f"links: give {servers} x {servers} counts >= 0 with a diagonal of 0")
        if max(links.sum(axis=0).max(), links.sum(axis=1).max()) > self.switches:
            raise ValueError(f"links: a server has {self.switches} ports on a rail; ask for no more each way")
        colouring = _Colouring(servers, self.switches)
        for source, destination in np.argwhere(links):
            for _ in range(links[source, destination]):
                colouring.add(int(source), int(destination))
        return colouring.to.T.copy()


class RailsInTurns(OcsRail):
    """The same for a job whose circuits take turns at its ports: what it has of them is what one turn needs."""

    taken: Turns
    """in which circuits are on"""

    @property
    def turns(self) -> Turns:
        return self.taken

    @property
    def switching_inside(self) -> SwitchingInside:
        return SwitchingInside(self.reconfiguration_s, is_hidden=True)

    def combines(self, plans: Sequence[GroupPlan]) -> bool:
        """Whether every kind of circuits has its turn, and the ports suffice for each of these."""
        suffices = most_at_once(self.taken, [*map(ports_of, plans)]) <= self.switches
        return self._has_servers(plans) and has_every_kind(self.taken, plans) and suffices

    def combinations(
        self, menus: Sequence[Sequence[GroupPlan]], is_confined: Sequence[bool]
    ) -> Iterable[tuple[int, ...]]:
        first = [menu[0] for menu in menus if menu]
        if len(first) < len(menus) or not (self._has_servers(first) and has_every_kind(self.taken, first)):
            return ()
        return choices_in_turns(menus, self.taken, ports_of, self.switches)


class _Colouring:
    """Edges of a bipartite multigraph, coloured one by one with alternating paths; colours are switches."""

    def __init__(self, servers: int, colours: int) -> None:
        self.to = np.full((servers, colours), FREE, dtype=np.int64)
        """receiver of each sender by colour"""
        self._from = np.full((servers, colours), FREE, dtype=np.int64)

    def add(self, source: int, destination: int) -> None:
        """Colour one edge; both ends must have a colour left."""
        mine = int(np.argmax(self.to[source] == FREE))
        theirs = int(np.argmax(self._from[destination] == FREE))
        if mine != theirs:
            self._swap(destination, mine, theirs)
        self.to[source, mine] = destination
        self._from[destination, mine] = source

    def _swap(self, receiver: int, first: int, second: int) -> None:
        """Exchange two colours on the path that enters a receiver in the first; it has no edge in the second."""
        path: list[tuple[int, int, int]] = []
        colour, here = first, receiver
        while (sender := int(self._from[here, colour])) != FREE:
            path.append((sender, here, colour))
            onward = int(self.to[sender, second])
            if onward == FREE:
                break
            path.append((sender, onward, second))
            here = onward
        for sender, end, old in path:
            self.to[sender, old] = self._from[end, old] = FREE
        for sender, end, old in path:
            new = second if old == first else first
            self.to[sender, new], self._from[end, new] = end, sender
