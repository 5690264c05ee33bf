"""Lightpath servers joined by fibers: the rack of paper 003 (Kumar et al., Lumorph)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.collectives.circulant_offers import Offered
from costmodel.collectives.family import pareto
from costmodel.collectives.limits import Limits
from costmodel.collectives.offers import SWITCHED, all_reduces, all_to_alls, is_runnable
from costmodel.collectives.plan import CollectivePlan
from costmodel.fabrics.fibers import Fiber, FiberBundle, NumFibers, Route
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan, LinkPlan, divisors_down, transfer_radices
from costmodel.fabrics.inventory import Parts, PriceClass
from costmodel.fabrics.tile_modules import TilesWithMemory
from costmodel.fabrics.turns import SwitchingInside
from costmodel.parallelism.mappings import Dimension
from costmodel.parallelism.pools import most_peers
from costmodel.spec import BytesPerSecond, Decibels, JoulesPerByte, Latency, SwitchingTime

MAX_TILES = 32
"""most tiles of one server (paper 003, section 2)"""
ROUNDING_DB = 1e-9
"""what sums of losses may exceed the budget by, being floats"""
TRANSFER_CHANGES = 2
"""of configuration for each cache that is handed over: from the circuits of other dimensions, and back"""
MAX_TRANSIT = 4
"""most third servers that a circuit may cross"""

Segment = tuple[int, int, int]
"""Directed waveguide between neighbouring tiles: (server, from slot, to slot)."""


class Lightpath(TilesWithMemory):
    """Tiles on a photonic wafer per server; fibers join each ordered pair of servers of one rack.

    Tiles lie on a grid of `tile_rows` rows; slot i sits in row i // columns. Light inside a server runs
    along the row first, then along the column. Fiber i of a pair leaves the source server at slot
    i mod tiles and enters the destination server at the same slot. A circuit between two servers
    takes one fiber, or crosses up to `transit` third servers of the rack, each once: there light walks from
    the slot where it enters to the slot where the next fiber leaves, on the same wavelengths.
    """

    device_letter, combines_all = "t", True

    kind: Literal["lightpath"] = "lightpath"
    tiles_per_server: int = Field(ge=1, le=MAX_TILES)
    """accelerators on the wafer of a server"""
    tile_rows: int = Field(default=1, ge=1, le=MAX_TILES)
    """rows of the grid on which they lie; divides tiles_per_server"""
    wavelengths_per_tile: int = Field(default=16, ge=1, le=128)
    """that a tile can send, and receive"""
    wavelength_bandwidth_bytes_per_s: BytesPerSecond
    """one wavelength, one direction"""
    max_peers: int = Field(ge=1, le=128)
    """most tiles that a tile sends to, and receives from, in one configuration"""
    waveguides: Literal["dedicated", "shared"] = "dedicated"
    """dedicated: light inside a server never meets other light; shared: one waveguide per direction
    between neighbouring tiles"""
    fibers: NumFibers | tuple[FiberBundle, ...]
    """number for each ordered pair of servers, or the list of bundles"""
    wavelengths_per_fiber: int = Field(default=16, ge=1, le=128)
    """that a fiber carries"""
    transit: int = Field(default=0, ge=0, le=MAX_TRANSIT)
    """most third servers that a circuit between two servers may cross; 0: it takes a fiber of the two"""
    alpha_s: Latency
    """fixed time of a message over a circuit"""
    reconfiguration_s: SwitchingTime
    """time to switch circuits while a job runs"""
    switching: Literal["waited", "hidden"] = Field(default="waited", exclude_if=lambda switching: switching == "waited")
    """hidden: software of jobs has the next circuits made while operators run; waited: steps wait for all switches"""
    collectives: Offered = Field(default="families", exclude_if=lambda offered: offered == "families")
    """circulants: groups may also hold circuits that lead a few fixed numbers of ranks ahead, with schedules for them
    that software of the job reads; families: rings, mixed radices, exchanges and relays alone"""
    energy_j_per_byte: JoulesPerByte
    """of a byte over a circuit"""
    loss_per_tile_db: Decibels = 0.0
    """for each tile boundary crossed"""
    loss_per_fiber_db: Decibels = 0.0
    """of a fiber, connectors included"""
    loss_budget_db: Decibels | None = None
    """most of a circuit; absent: no limit"""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.tiles_per_server % self.tile_rows:
            raise ValueError(f"tile_rows: {self.tile_rows} must divide tiles_per_server {self.tiles_per_server}")
        _ = self._bundles
        return self

    @property
    def devices_per_server(self) -> int:
        return self.tiles_per_server

    @property
    def rows(self) -> int:
        return self.tile_rows

    @property
    def stage_s(self) -> float:
        return max(self.reconfiguration_s + self.alpha_s, super().stage_s)

    @property
    def has_circuits(self) -> bool:
        return True

    @cached_property
    def _bundles(self) -> dict[tuple[int, int], int]:
        if isinstance(self.fibers, int):
            return {}
        bundles: dict[tuple[int, int], int] = {}
        for bundle in self.fibers:
            try:
                pair = self.parse_server(bundle.source), self.parse_server(bundle.destination)
            except ValueError as error:
                raise ValueError(f"fibers: {error}") from None
            if pair[0] == pair[1] or self.rack_of(pair[0]) != self.rack_of(pair[1]):
                raise ValueError(
                    f"fibers: they join two servers of one rack, not {bundle.source} and {bundle.destination}"
                )
            if pair in bundles:
                raise ValueError(f"fibers: those from {bundle.source} to {bundle.destination} are given twice")
            bundles[pair] = bundle.count
        return bundles

    def num_fibers(self, source: int, destination: int) -> int:
        if source == destination or self.rack_of(source) != self.rack_of(destination):
            return 0
        if isinstance(self.fibers, int):
            return self.fibers
        return self._bundles.get((source, destination), 0)

    @property
    def num_wavelengths(self) -> int:
        return self.wavelengths_per_tile

    def _port_prices(self) -> Mapping[PriceClass, int]:
        return {"optical_port": self.num_devices}

    def _other_parts(self, devices: Parts) -> Iterator[Parts]:
        yield Parts("fiber", self._num_fibers, self._fiber_names, self.parse_fiber, {"optical_port": 0})
        yield from self._behind_tiles(devices)

    def _fiber_names(self) -> Iterator[str]:
        servers = range(self.num_servers)
        return (self.fiber_name(a, b, i) for a, b in product(servers, servers) for i in range(self.num_fibers(a, b)))

    @property
    def _num_fibers(self) -> int:
        """Of all pairs of servers."""
        if isinstance(self.fibers, int):
            return self.racks * self.servers * (self.servers - 1) * self.fibers
        return sum(self._bundles.values())

    def fiber_name(self, source: int, destination: int, index: int) -> str:
        return f"{self.server_name(source)}>{self.server_name(destination)}#{index}"

    def parse_fiber(self, name: str) -> Fiber:
        """Servers and index of a fiber, working or not; ValueError where there is none of this name."""
        match = re.fullmatch(r"(.+)>(.+)#(0|[1-9]\d{0,5})", name)
        if match is None:
            raise ValueError(f"no fiber '{name}'; fibers have names such as {self.server_name(0)}>s1#0")
        source, destination, index = self.parse_server(match[1]), self.parse_server(match[2]), int(match[3])
        count = self.num_fibers(source, destination)
        if index >= count:
            raise ValueError(f"{match[1]} to {match[2]} has {count} fibers, counted from 0; there is no fiber {index}")
        return source, destination, index

    def route(self, source: int, names: Sequence[str], destination: int) -> Route:
        """Fibers by name that lead from one server to another; ValueError where they do not, or cross too many."""
        route = tuple(map(self.parse_fiber, names))
        visited = [source, *(fiber[1] for fiber in route)]
        joins = [fiber[0] for fiber in route] == visited[:-1] and visited[-1] == destination
        most = 0 if source == destination else self.transit + 1
        if not joins or len(set(visited)) < len(visited) or len(route) > most:
            ends = self.server_name(source), self.server_name(destination)
            raise ValueError(f"fibers {list(names)} do not lead from {ends[0]} to {ends[1]} as circuits may")
        return route

    def fiber_slot(self, index: int) -> int:
        """Slot at which fiber `index` of any pair leaves and enters its servers."""
        return index % self.tiles_per_server

    def segments(self, server: int, source: int, destination: int) -> tuple[Segment, ...]:
        """Waveguides that light crosses from one slot of a server to another: row first, then column."""
        columns = self.tiles_per_server // self.tile_rows
        path, here = [], source
        while here % columns != destination % columns:
            there = here + (1 if destination % columns > here % columns else -1)
            path.append((server, here, there))
            here = there
        while here != destination:
            there = here + (columns if destination > here else -columns)
            path.append((server, here, there))
            here = there
        return tuple(path)

    def crossed(self, source: tuple[int, int], route: Route, destination: tuple[int, int]) -> tuple[Segment, ...]:
        """Waveguides on the way from one (server, slot) to another over the fibers of a route."""
        path: list[Segment] = []
        server, slot = source
        for _, following, index in route:
            gate = self.fiber_slot(index)
            path += self.segments(server, slot, gate)
            server, slot = following, gate
        return (*path, *self.segments(server, slot, destination[1]))

    def loss_db(self, num_crossings: int, num_fibers: int) -> float:
        return num_crossings * self.loss_per_tile_db + num_fibers * self.loss_per_fiber_db

    @property
    def slots_matter(self) -> bool:
        """Whether it matters on which tiles of a server a job lies: shared light or a tight loss budget."""
        if self.waveguides == "shared":
            return True
        if self.loss_budget_db is None:
            return False
        rows = self.tile_rows
        farthest = (self.tiles_per_server // rows - 1) + (rows - 1)
        return self.loss_db((self.most_hops + 1) * farthest, self.most_hops) > self.loss_budget_db

    @property
    def most_hops(self) -> int:
        """Most fibers of one circuit: those of `transit`, as far as the loss of fibers alone allows."""
        hops, budget = self.transit + 1, self.loss_budget_db
        if budget is None or self.loss_per_fiber_db == 0:
            return hops
        return min(hops, int((budget + ROUNDING_DB) / self.loss_per_fiber_db))

    def blocks(self, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        tensor = spans[0]
        if tensor == num_devices:
            return (1,)
        return (tensor,) if tensor <= self.tiles_per_server else ()

    def plans(self, dimension: Dimension, ranks: int, *, one_server: bool, per_server: int = 1) -> Sequence[GroupPlan]:
        if ranks == 1:
            return (NO_PLAN,)
        if dimension == "pipeline":
            return self._lines(ranks)
        is_any_light = one_server and not self.slots_matter
        widths = (self.wavelengths_per_tile,) if is_any_light else divisors_down(self.wavelengths_per_tile)
        if dimension == "expert":
            return all_to_alls(ranks, self.limits, widths, self.collectives)
        found = all_reduces(ranks, self.limits, widths, self.collectives)
        kept = tuple(plan for plan in found if plan.has_halves) if dimension == "context" else found
        return pareto(kept) if is_any_light else kept

    def plan_kept(self, dimension: Dimension, described: LinkPlan) -> GroupPlan | None:
        if dimension not in ("tensor", "data") or described.kind not in SWITCHED:
            return None
        digits = described.radices, described.held, described.wavelengths
        plan = CollectivePlan("all_reduce", described.kind, described.ranks, self.limits, *digits, described.order)
        return plan if is_runnable(plan) else None

    @cached_property
    def limits(self) -> Limits:
        """What a tile may do in one configuration of circuits, and what it costs."""
        rate = self.wavelength_bandwidth_bytes_per_s
        return Limits(self.wavelengths_per_tile, self.max_peers, self.alpha_s, self.reconfiguration_s, rate)

    def _lines(self, stages: int) -> tuple[GroupPlan, ...]:
        """Pipeline stages in a line, at every halving of the width that a stage can give its peers."""
        peers = 1 if stages == 2 else 2
        if peers > min(self.max_peers, self.wavelengths_per_tile):
            return ()
        rate = self.wavelength_bandwidth_bytes_per_s
        return tuple(
            LinkPlan("line", stages, self.alpha_s, 1 / (width * rate), 1.0, (width,))
            for width in divisors_down(self.wavelengths_per_tile // peers)
        )

    def transfers(
        self, prefill: int, decode: int, *, one_server: bool, each: tuple[int, int] = (1, 1)
    ) -> Sequence[GroupPlan]:
        """Circuits of all pairs at once, at every halving of the width that the busiest replica can give its peers."""
        radices = transfer_radices(prefill, decode, each)
        peers = most_peers(*radices)
        if peers > min(self.max_peers, self.wavelengths_per_tile):
            return ()
        latency_s = self.alpha_s + TRANSFER_CHANGES * self.reconfiguration_s
        rate, ranks = self.wavelength_bandwidth_bytes_per_s, prefill * each[0] + decode * each[1]
        return tuple(
            LinkPlan("transfer", ranks, latency_s, 1 / (width * rate), 1.0, (width,), radices)
            for width in divisors_down(self.wavelengths_per_tile // peers)
        )

    def network_j_per_byte(self, one_server: bool) -> float:
        return self.energy_j_per_byte

    @property
    def switching_inside(self) -> SwitchingInside:
        return SwitchingInside(self.reconfiguration_s, self.switching == "hidden")
