"""Lightpath servers joined by fibers: the rack of paper 003 (Kumar et al., Lumorph)."""

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.collective_plans import all_reduce_plans, pareto_plans
from costmodel.fabrics.base import NO_PLAN, FabricBase, GroupPlan, LinkPlan, divisors_down
from costmodel.mappings import Dimension
from costmodel.spec import BytesPerSecond, Decibels, JoulesPerByte, Seconds, Spec

MAX_TILES = 32
"""most tiles of one server (paper 003, section 2)"""

Segment = tuple[int, int, int]
"""Directed waveguide between neighbouring tiles: (server, from slot, to slot)."""


class FiberBundle(Spec):
    """Parallel fibers from one server to another, in this direction only."""

    source: str = Field(alias="from")
    destination: str = Field(alias="to")
    count: int = Field(ge=0, le=4096)


class Lightpath(FabricBase):
    """Tiles on a photonic wafer per server; fibers join each ordered pair of servers of one rack.

    Tiles lie on a grid of `tile_rows` rows; slot i sits in row i // columns. Light inside a server runs
    along the row first, then along the column. Fiber i of a pair leaves the source server at slot
    i mod tiles and enters the destination server at the same slot. A circuit between two servers
    takes one fiber: other servers are not crossed.
    """

    kind: Literal["lightpath"] = "lightpath"
    tiles_per_server: int = Field(ge=1, le=MAX_TILES)
    tile_rows: int = Field(default=1, ge=1, le=MAX_TILES)
    wavelengths_per_tile: int = Field(default=16, ge=1, le=128)
    wavelength_bandwidth_bytes_per_s: BytesPerSecond
    """one wavelength, one direction"""
    max_peers: int = Field(ge=1, le=128)
    """most tiles that a tile sends to, and receives from, in one configuration"""
    waveguides: Literal["dedicated", "shared"] = "dedicated"
    """dedicated: light inside a server never meets other light; shared: one waveguide per direction
    between neighbouring tiles"""
    fibers: int | tuple[FiberBundle, ...]
    """number for each ordered pair of servers, or the list of bundles"""
    wavelengths_per_fiber: int = Field(default=16, ge=1, le=128)
    alpha_s: Seconds
    reconfiguration_s: Seconds
    energy_j_per_byte: JoulesPerByte
    loss_per_tile_db: Decibels = 0.0
    """for each tile boundary crossed"""
    loss_per_fiber_db: Decibels = 0.0
    loss_budget_db: Decibels | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.tiles_per_server % self.tile_rows:
            raise ValueError(f"tile_rows: {self.tile_rows} must divide tiles_per_server {self.tiles_per_server}")
        if isinstance(self.fibers, int) and self.fibers < 0:
            raise ValueError(f"fibers: must not be negative, got {self.fibers}")
        _ = self._bundles
        return self

    @property
    def devices_per_server(self) -> int:
        return self.tiles_per_server

    @property
    def device_letter(self) -> str:
        return "t"

    @property
    def links_racks(self) -> bool:
        return False

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

    def fiber_name(self, source: int, destination: int, index: int) -> str:
        return f"{self.server_name(source)}>{self.server_name(destination)}#{index}"

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
        return self.loss_db(2 * farthest, 1) > self.loss_budget_db

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
        if dimension not in ("tensor", "data"):
            return ()
        confined = one_server and not self.slots_matter
        all_plans = all_reduce_plans(
            ranks,
            wavelengths=self.wavelengths_per_tile,
            max_peers=self.max_peers,
            alpha_s=self.alpha_s,
            reconfiguration_s=self.reconfiguration_s,
            wavelength_bytes_per_s=self.wavelength_bandwidth_bytes_per_s,
            ring_widths=None if confined else divisors_down(self.wavelengths_per_tile),
        )
        if confined:
            return pareto_plans(all_plans)
        rings = [plan for plan in all_plans if plan.kind == "ring"]
        return (*rings, *pareto_plans([plan for plan in all_plans if plan.kind != "ring"]))

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

    def network_j_per_byte(self, one_server: bool) -> float:
        return self.energy_j_per_byte

    def phase_change_s(self) -> float:
        return self.reconfiguration_s
