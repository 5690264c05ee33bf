"""The cluster of an instance: fabric, device and what has failed."""

from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple, Self

from pydantic import BeforeValidator, model_validator

from costmodel.catalog import documents
from costmodel.fabrics import Fabric, UpperPart
from costmodel.fabrics.across_racks import upper_links
from costmodel.hardware.device import Device, device_names, load_device
from costmodel.spec import Spec
from planner.model import files
from planner.model.health import FailedLaser, Health

PORT = ":port"
"""what follows the name of a device where its port is meant"""


def _device(value: object) -> object:
    """A device by its name, or as it is given; a name of the catalog stands for the catalog's numbers alone."""
    if isinstance(value, str):
        try:
            return load_device(value)
        except ValueError as error:
            own = (
                "one of your own is described by its fields, in an instance or a file: `planner fields cluster.device`"
            )
            raise ValueError(f"{error}; {own}") from None
    if isinstance(value, dict) and value.get("name") in device_names() and value != documents()[value["name"]]:
        named = load_device(value["name"])
        if Device.model_validate(value) != named:
            raise ValueError(
                f"name: '{named.name}' is a device of the catalog with other numbers; give this one another name, and "
                f"`like: {named.name}` where that one's fitted curves should hold"
            )
    return value


_POOLED = {
    "failed_memory_units": "memory unit",
    "failed_tray_ports": "tray port",
    "failed_uplinks": "uplink",
    "failed_memory_nodes": "memory node",
}
"""parts that hold or reach memory by their key in health"""


class Condition(NamedTuple):
    """State of a working device."""

    is_dark: bool
    """its port has failed"""
    lasers: int
    """mask of wavelengths that it cannot send"""
    receivers: int
    """mask of wavelengths that it cannot receive"""


class Cluster(Spec):
    """Identical devices on one fabric; counts of what is healthy are by server."""

    device: Annotated[Device, BeforeValidator(_device, json_schema_input_type=str | Device)]
    """name in the catalog, or all fields inline"""
    fabric: Fabric
    """what joins the devices: its kind and numbers"""
    health: Health = Health()
    """what is down; absent: nothing"""

    @model_validator(mode="after")
    def _parts_exist(self) -> Self:
        parsers = {
            "failed_tiles": self.fabric.parse_device,
            "failed_ports": self.fabric.parse_device,
            "failed_switches": self.fabric.parse_switch,
        }
        for key, parse in parsers.items():
            for name in getattr(self.health, key):
                try:
                    parse(name)
                except ValueError as error:
                    raise ValueError(f"health.{key}: {error}") from None
        self._require_pool_parts()
        self._require_upper_parts()
        for fiber in self.health.failed_fibers:
            pair = self.fabric.parse_server(fiber.source), self.fabric.parse_server(fiber.destination)
            if fiber.index >= self.fabric.num_fibers(*pair):
                raise ValueError(
                    f"health.failed_fibers: {fiber.source} to {fiber.destination} has "
                    f"{self.fabric.num_fibers(*pair)} fibers, counted from 0; there is no fiber {fiber.index}"
                )
        for key in ("failed_lasers", "failed_receivers"):
            for part in getattr(self.health, key):
                self._require_wavelength(f"health.{key}", part)
        return self

    def _require_pool_parts(self) -> None:
        """Failed parts of pooled racks are parts that these racks have."""
        for key, kind in _POOLED.items():
            if getattr(self.health, key) and kind not in self.fabric.inventory():
                raise ValueError(f"health.{key}: a {self.fabric.kind} has none; remove them")
        try:
            _ = self.failed_units, self.failed_tray_ports, self.failed_uplinks, self.failed_memory_nodes
        except ValueError as error:
            raise ValueError(f"health: {error}") from None
        if self.failed_memory_nodes and not self.fabric.slots_matter:
            raise ValueError(
                "health.failed_memory_nodes: halves of memory nodes are the same for all accelerators here; give "
                "fabric.shared_nodes: true (arrangement ring), so that jobs take DIMMs of the nodes that work, or let "
                "the accelerators beside such a node fail"
            )

    def _require_upper_parts(self) -> None:
        known = (
            [name for part in upper_links(self.fabric).values() for name in part] if self.health.failed_upper else ()
        )
        for name in self.health.failed_upper:
            if name not in known:
                names = f"they are {min(known)} to {max(known)}" if any(known) else "there are none; remove it"
                raise ValueError(f"health.failed_upper: no switch or fiber '{name}' between racks; {names}")

    def _require_wavelength(self, where: str, part: FailedLaser) -> None:
        if not self.fabric.num_wavelengths:
            raise ValueError(f"{where}: a {self.fabric.kind} has no lasers; remove them")
        if "laser" not in self.fabric.inventory():
            problem = "no laser or receiver is told apart where they light memory modules too"
            raise ValueError(f"{where}: {problem}; record the port of {part.tile} in failed_ports")
        try:
            self.fabric.parse_device(part.tile)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        if part.wavelength >= self.fabric.num_wavelengths:
            last = self.fabric.num_wavelengths - 1
            raise ValueError(
                f"{where}: {part.tile} has wavelengths 0 to {last}; there is no wavelength {part.wavelength}"
            )

    @cached_property
    def parts_json(self) -> str:
        """Device and fabric, without their health: with a workload, all that a price depends on."""
        return f"{self.device.model_dump_json()}\n{self.fabric.model_dump_json()}"

    @cached_property
    def failed_devices(self) -> frozenset[tuple[int, int]]:
        """(server, slot) of devices that run nothing: where memory is remote, those without light too."""
        names = self.health.failed_tiles
        if self.fabric.has_remote_memory:
            names += self.health.failed_ports
        return frozenset(self.fabric.parse_device(name) for name in names)

    @cached_property
    def failed_parts(self) -> frozenset[str]:
        """Names of all parts that are down; of a device that runs without its port, such as s0.t1:port, the port."""
        health, name = self.health, self.fabric.device_name
        return frozenset(
            {
                *(name(*device) for device in self.failed_devices),
                *(name(*device) + PORT for device in self.dark_devices),
                *(fiber.name for fiber in health.failed_fibers),
                *(part.name for part in (*health.failed_lasers, *health.failed_receivers)),
                *health.failed_switches,
                *health.failed_memory_units,
                *health.failed_tray_ports,
                *health.failed_uplinks,
                *health.failed_memory_nodes,
                *health.failed_upper,
            }
        )

    @cached_property
    def upper_links(self) -> dict[UpperPart, dict[str, int]]:
        """Working links of each part of the layer above racks, by the name of what they go through."""
        failed, every = self.health.failed_upper, upper_links(self.fabric)
        return {part: {name: n for name, n in links.items() if name not in failed} for part, links in every.items()}

    @cached_property
    def failed_units(self) -> frozenset[tuple[int, ...]]:
        """(server, tray, number) of memory units that are down."""
        return self._pooled("failed_memory_units")

    @cached_property
    def failed_tray_ports(self) -> frozenset[tuple[int, ...]]:
        """(server, tray, rail, number) of ports of memory trays that are dark."""
        return self._pooled("failed_tray_ports")

    @cached_property
    def failed_uplinks(self) -> frozenset[tuple[int, ...]]:
        """(server, rail, number) of uplinks that are dark."""
        return self._pooled("failed_uplinks")

    @cached_property
    def failed_memory_nodes(self) -> frozenset[tuple[int, ...]]:
        """(server, number) of memory nodes that are down."""
        return self._pooled("failed_memory_nodes")

    def _pooled(self, key: str) -> frozenset[tuple[int, ...]]:
        """Numbers of the failed parts that health has under a key of _POOLED."""
        names = getattr(self.health, key)
        return frozenset(map(self.fabric.inventory()[_POOLED[key]].parse, names)) if names else frozenset()

    @cached_property
    def dark_devices(self) -> frozenset[tuple[int, int]]:
        """(server, slot) of working devices whose port has failed."""
        ports = {self.fabric.parse_device(name) for name in self.health.failed_ports}
        return frozenset(ports - self.failed_devices)

    @cached_property
    def failed_fibers(self) -> frozenset[tuple[int, int, int]]:
        """(source server, destination server, index)."""
        parse = self.fabric.parse_server
        return frozenset((parse(f.source), parse(f.destination), f.index) for f in self.health.failed_fibers)

    @cached_property
    def failed_switches(self) -> frozenset[tuple[int, int]]:
        """(axis or rail, number) of optical switches that carry no light."""
        return frozenset(map(self.fabric.parse_switch, self.health.failed_switches))

    @cached_property
    def failed_lasers(self) -> dict[tuple[int, int], int]:
        """Bit mask of the wavelengths that a device (server, slot) cannot send, where there are any."""
        return self._masks(self.health.failed_lasers)

    @cached_property
    def failed_receivers(self) -> dict[tuple[int, int], int]:
        """Bit mask of the wavelengths that a device (server, slot) cannot receive, where there are any."""
        return self._masks(self.health.failed_receivers)

    def _masks(self, parts: tuple[FailedLaser, ...]) -> dict[tuple[int, int], int]:
        masks: dict[tuple[int, int], int] = {}
        for part in parts:
            device = self.fabric.parse_device(part.tile)
            masks[device] = masks.get(device, 0) | 1 << part.wavelength
        return masks

    @property
    def has_failed_light(self) -> bool:
        """Whether some device cannot send or receive on all wavelengths."""
        return bool(self.failed_lasers or self.failed_receivers)

    def condition(self, device: tuple[int, int]) -> Condition:
        """What distinguishes the working devices of a server where their slots do not matter."""
        return Condition(
            device in self.dark_devices, self.failed_lasers.get(device, 0), self.failed_receivers.get(device, 0)
        )

    def healthy_slots(self, server: int) -> tuple[int, ...]:
        """Slots of working devices, those with a failed port included."""
        return self._healthy_slots[server]

    @cached_property
    def _healthy_slots(self) -> tuple[tuple[int, ...], ...]:
        slots, servers = tuple(range(self.fabric.devices_per_server)), range(self.fabric.num_servers)
        if not self.failed_devices:
            return (slots,) * len(servers)
        return tuple(tuple(slot for slot in slots if (s, slot) not in self.failed_devices) for s in servers)

    def lit_slots(self, server: int) -> tuple[int, ...]:
        """Slots of working devices with a working port."""
        if not self.dark_devices:
            return self.healthy_slots(server)
        return tuple(slot for slot in self.healthy_slots(server) if (server, slot) not in self.dark_devices)

    def healthy_fibers(self, source: int, destination: int) -> tuple[int, ...]:
        """Indices of working fibers from one server to another."""
        indices = range(self.fabric.num_fibers(source, destination))
        return tuple(i for i in indices if (source, destination, i) not in self.failed_fibers)

    @property
    def num_healthy(self) -> int:
        return self.fabric.num_devices - len(self.failed_devices)


def load_cluster(path: Path) -> Cluster:
    """A cluster, or that of an instance."""
    return files.load(Cluster, path, part="cluster")
