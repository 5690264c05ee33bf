"""What every fabric tells the planner: its servers, their names, and how a group of ranks may communicate."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from costmodel.collectives.limits import Limits
from costmodel.counts import MOST_SERVERS
from costmodel.fabrics.answer_keys import AnswerKeys
from costmodel.fabrics.device_names import DeviceNames
from costmodel.fabrics.group_plans import GroupPlan, LinkPlan
from costmodel.fabrics.inventory import Inventory, Parts, PriceClass, before_port
from costmodel.fabrics.turns import SwitchingInside, Turns
from costmodel.fabrics.upper import UpperLayer
from costmodel.hardware.device import Device
from costmodel.hardware.memory.choices import CachedDevice
from costmodel.parallelism.degrees import RANK_ORDERS, RankOrder
from costmodel.parallelism.mappings import Dimension
from costmodel.spec import Watts

if TYPE_CHECKING:
    from costmodel.workloads import Workload

SliceShape = tuple[int, ...]
"""Extent of a slice in a server: sides of a box, then 1 where it must lie on boards; or radices of free digits"""


@dataclass(frozen=True)
class Split:
    """One way in which a job's accelerators may divide their I/O, and what is then theirs to use."""

    device: Device
    """with the memory that it reaches"""
    fabric: "FabricBase"
    """whose plans use the I/O that is left to the network"""
    memory_units: int | None = None
    """units of remote memory for each accelerator; None where all its memory is local"""
    memory_io: int | None = None
    """I/O modules of each accelerator that serve memory"""
    cached: CachedDevice | None = None
    """the device where a part of its reads is found in a cache; None where `device` holds whatever is kept"""
    second_tiers: tuple[str, ...] = ()
    """equal memories of a second tier, each with its own way, for mappings that offload alone; none: no such tier"""
    tier_units: int | None = None
    """of a second tier behind remote memory, for each accelerator; None where it holds none"""


class FabricBase(DeviceNames, AnswerKeys):
    """Servers of identical size, numbered through all racks; devices are named server.device."""

    links_racks: ClassVar[bool] = False
    """whether a job may span racks"""
    has_remote_memory: ClassVar[bool] = False
    """whether devices have no memory but what they reach by light: without a working port they run nothing"""
    measures_fragmentation: ClassVar[bool] = True
    """whether free devices are of use in one server, or in two, however they lie: the objective counts those"""
    rank_orders: ClassVar[tuple[RankOrder, ...]] = RANK_ORDERS[:1]
    """orders of a job's ranks among which it may choose: one where circuits join the groups, wherever they lie"""
    pools_are_alike: ClassVar[bool] = False
    """whether both pools of a service have the same degrees"""

    if TYPE_CHECKING:
        kind: str
        """which fabric, as files name it: each has a literal of its own"""
    racks: int = Field(default=1, ge=1, le=4096)
    """racks of this kind; a job stays in one rack unless the fabric links racks"""
    servers: int = Field(ge=1, le=MOST_SERVERS)
    """servers in each rack"""
    node_overhead_w: Watts | None = None
    """power of a server without its accelerators: processors, adapters, fans, losses; that of the catalog's system with
    such accelerators, for each of them, where absent"""

    @property
    def rows(self) -> int:
        """Rows of equal length in which the devices of a server are drawn."""
        return 1

    @property
    def has_circuits(self) -> bool:
        """Whether jobs hold optical circuits on this fabric."""
        return False

    @property
    def limits(self) -> Limits | None:
        """Of one device in collectives over circuits of their own; None where collectives have none."""
        return None

    @property
    def node_bytes_per_s(self) -> float | None:
        """Peak of a device's links to the others of its server, one direction; None where no switch joins these."""
        return None

    @property
    def sizes(self) -> str:
        """Numbers of devices that a slice may have, in words; empty where any devices will do."""
        return ""

    @property
    def num_wavelengths(self) -> int:
        """Wavelengths that a device sends, each by a laser of its own; 0 where circuits are not told by wavelength."""
        return 0

    @property
    def slots_matter(self) -> bool:
        """Whether it matters on which devices of a server a job lies, health aside."""
        return False

    @property
    def places_whole_jobs(self) -> bool:
        """Whether the slots of a job depend on each other, so that no rank moves without the others."""
        return False

    @property
    def num_devices(self) -> int:
        return self.num_servers * self.devices_per_server

    @property
    def most_devices_of_a_job(self) -> int:
        """Devices that one job may use when nothing has failed: of a rack, or of all where racks are linked."""
        return self.num_devices if self.links_racks or self.upper_layer is not None else self.devices_per_rack

    @property
    def devices_per_rack(self) -> int:
        return self.servers * self.devices_per_server

    @property
    def upper_layer(self) -> UpperLayer | None:
        """What joins racks, so that a job may lie in several in equal parts; None where nothing does."""
        return None

    def rack_of(self, server: int) -> int:
        return server // self.servers

    def parse_switch(self, name: str) -> tuple[int, int]:
        """Axis or rail of an optical switch, and its number there; ValueError names the right form."""
        raise ValueError(f"no switch '{name}'; this fabric has no optical switches")

    @property
    def switch_names(self) -> tuple[str, ...]:
        """All optical switches; none where the fabric has none."""
        return ()

    @property
    def num_optical_switches(self) -> int:
        return 0

    def inventory(self) -> Inventory:
        """Every part by kind: counted, named and priced."""
        prices: dict[PriceClass, int] = {"accelerator": self.num_devices}
        devices = self._parts_of_servers().of_each("tile", f".{self.device_letter}", self.devices_per_server, prices)
        switches = self.num_optical_switches
        optical = Parts("switch", switches, lambda: self.switch_names, self.parse_switch, {"optical_switch": switches})
        parts = (devices, self._ports_of(devices), *self._other_parts(devices), optical)
        return {each.kind: each for each in parts}

    def _parts_of_servers(self) -> Parts:
        """Servers, as owners of parts."""
        return Parts("server", self.num_servers, lambda: iter(self.server_names), lambda s: (self.parse_server(s),), {})

    def _ports_of(self, devices: Parts) -> Parts:
        """All that joins a device to others, which fails as one port."""
        ways = lambda: (f"{name}:port" for name in devices.names()), lambda name: self.parse_device(before_port(name))
        return Parts("port", devices.count, *ways, self._port_prices())

    def _port_prices(self) -> Mapping[PriceClass, int]:
        """Ports of all devices by class of price."""
        return {"electrical_port": self.num_devices}

    def _other_parts(self, devices: Parts) -> Iterable[Parts]:
        """Parts that only this kind of fabric has."""
        return ()

    def num_fibers(self, source: int, destination: int) -> int:
        """Fibers from one server to another; 0 where the fabric has none."""
        return 0

    def blocks(self, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        """Block sizes a job may be laid out in: each block of consecutive ranks stays in one server. `spans`: ranks of
        the tensor group, of it with the context, with the expert group around that, with the pipeline around it."""
        raise NotImplementedError

    def even_blocks(self, natural: Sequence[int], num_devices: int, per_server: int) -> Sequence[int]:
        """Block sizes to list where each server of a job gives so many devices, `natural` being those without that."""
        is_even = per_server <= self.devices_per_server and num_devices % per_server == 0
        return (per_server,) if is_even and any(per_server % block == 0 for block in natural) else ()

    def share(self, block: int, plans: Sequence[GroupPlan]) -> int:
        """Devices that each server gives where a job with these plans takes as little as it may of each."""
        return block

    def plans(self, dimension: Dimension, ranks: int, *, one_server: bool, per_server: int = 1) -> Sequence[GroupPlan]:
        """Ways in which a group of `ranks` may communicate along a dimension; () where there is none. `one_server` says
        that the group surely lies in one server, `per_server` how many of it surely share one."""
        raise NotImplementedError

    def transfers(
        self, prefill: int, decode: int, *, one_server: bool, each: tuple[int, int] = (1, 1)
    ) -> Sequence[GroupPlan]:
        """Ways in which caches of prompts go from some replicas to others, rank by rank; () where there is none. The
        group along data has the replicas of prompts first, with so many ranks of `each` replica of either pool."""
        return ()

    def splits(self, device: Device, workload: "Workload") -> Sequence[Split]:
        """Divisions of the I/O between memory and network that a job may choose from."""
        return (Split(device, self),)

    def combines(self, plans: Sequence[GroupPlan]) -> bool:
        """Whether one job may use these plans, one along each of DIMENSIONS, together."""
        return True

    def combinations(
        self, menus: Sequence[Sequence[GroupPlan]], is_confined: Sequence[bool]
    ) -> Iterable[tuple[int, ...]]:
        """Positions in the menus, one for each of DIMENSIONS, of plans to offer together, in servers or beyond."""
        for places in product(*(range(len(menu)) for menu in menus)):
            if self.combines([menu[place] for menu, place in zip(menus, places, strict=True)]):
                yield places

    def cut(self, plans: Sequence[GroupPlan]) -> SliceShape:
        """What a job with these plans takes of each of its servers; () where any free devices will do."""
        return ()

    def plan_kept(self, dimension: Dimension, described: LinkPlan) -> GroupPlan | None:
        """A plan that is not listed, but that a job may have from before, with its times; None where there is none."""
        return None

    def network_j_per_byte(self, one_server: bool) -> float:
        """Energy of moving a byte between two devices of one server, or of two servers."""
        raise NotImplementedError

    @property
    def resetting_s(self) -> float | None:
        """Time to give a job other circuits and memory between phases of its workload; None where it keeps its own."""
        return None

    @property
    def stage_s(self) -> float:
        """Time of one stage in which jobs change their circuits: switches turn, then the first light arrives."""
        return 0.0

    @property
    def turns(self) -> Turns:
        """In which of its circuits a job takes turns at ports that are theirs together; () where it does not."""
        return ()

    @property
    def switching_inside(self) -> SwitchingInside:
        """Between circuits of one job that take turns, or of two dimensions."""
        return SwitchingInside()
