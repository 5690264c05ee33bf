"""The cluster of an instance: fabric, device and what has failed."""

from functools import cached_property
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from costmodel.catalog import documents
from costmodel.fabrics import Fabric
from costmodel.hardware import Device, device_names, load_device
from costmodel.spec import Spec


class FailedFiber(Spec):
    """One fiber that carries no light."""

    source: str = Field(alias="from")
    destination: str = Field(alias="to")
    index: int = Field(ge=0)


class Health(Spec):
    """Parts that are down."""

    failed_tiles: tuple[str, ...] = ()
    """devices that run nothing"""
    failed_ports: tuple[str, ...] = ()
    """devices without light or network: they run single-device jobs only"""
    failed_fibers: tuple[FailedFiber, ...] = ()


def _device(value: object) -> object:
    """A device by its name, or as it is given; a name of the catalog stands for the catalog's numbers alone."""
    if isinstance(value, str):
        return load_device(value)
    if isinstance(value, dict) and value.get("name") in device_names() and value != documents()[value["name"]]:
        named = load_device(value["name"])
        if Device.model_validate(value) != named:
            raise ValueError(
                f"name: '{named.name}' is a device of the catalog with other numbers; give this one another name, and "
                f"`like: {named.name}` where that one's fitted curves should hold"
            )
    return value


class Cluster(Spec):
    """Identical devices on one fabric; counts of what is healthy are by server."""

    device: Annotated[Device, BeforeValidator(_device, json_schema_input_type=str | Device)]
    """name in the catalog, or all fields inline"""
    fabric: Fabric
    health: Health = Health()

    @model_validator(mode="after")
    def _parts_exist(self) -> Self:
        for key in ("failed_tiles", "failed_ports"):
            for name in getattr(self.health, key):
                try:
                    self.fabric.parse_device(name)
                except ValueError as error:
                    raise ValueError(f"health.{key}: {error}") from None
        for fiber in self.health.failed_fibers:
            pair = self.fabric.parse_server(fiber.source), self.fabric.parse_server(fiber.destination)
            if fiber.index >= self.fabric.num_fibers(*pair):
                raise ValueError(
                    f"health.failed_fibers: {fiber.source} to {fiber.destination} has "
                    f"{self.fabric.num_fibers(*pair)} fibers, counted from 0; there is no fiber {fiber.index}"
                )
        return self

    @cached_property
    def failed_devices(self) -> frozenset[tuple[int, int]]:
        """(server, slot) of devices that run nothing."""
        return frozenset(self.fabric.parse_device(name) for name in self.health.failed_tiles)

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

    def healthy_slots(self, server: int) -> tuple[int, ...]:
        """Slots of working devices, those with a failed port included."""
        slots = range(self.fabric.devices_per_server)
        return tuple(slot for slot in slots if (server, slot) not in self.failed_devices)

    def lit_slots(self, server: int) -> tuple[int, ...]:
        """Slots of working devices with a working port."""
        return tuple(slot for slot in self.healthy_slots(server) if (server, slot) not in self.dark_devices)

    def healthy_fibers(self, source: int, destination: int) -> tuple[int, ...]:
        """Indices of working fibers from one server to another."""
        indices = range(self.fabric.num_fibers(source, destination))
        return tuple(i for i in indices if (source, destination, i) not in self.failed_fibers)

    @property
    def num_healthy(self) -> int:
        return self.fabric.num_devices - len(self.failed_devices)
