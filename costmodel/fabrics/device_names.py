"""Names of the servers and devices of a fabric, numbered through all racks."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar


class DeviceNames:
    """Servers are named by rack and number; devices by their server and slot, such as s0.g1."""

    device_letter: ClassVar[str] = "g"
    """in names of devices, such as s0.g1"""

    if TYPE_CHECKING:
        racks: int
        servers: int

    @property
    def devices_per_server(self) -> int:
        raise NotImplementedError

    @property
    def num_servers(self) -> int:
        return self.racks * self.servers

    @cached_property
    def server_names(self) -> tuple[str, ...]:
        """Names of all servers, shape (S,)."""
        racks = [""] if self.racks == 1 else [f"r{rack}." for rack in range(self.racks)]
        return tuple(f"{rack}s{server}" for rack in racks for server in range(self.servers))

    def server_name(self, server: int) -> str:
        return self.server_names[server]

    def device_name(self, server: int, slot: int) -> str:
        return f"{self.server_names[server]}.{self.device_letter}{slot}"

    def device_names(self, devices: Iterable[tuple[int, int]]) -> list[str]:
        """Names of devices, each by its server and slot, in this order."""
        servers, slots = self.server_names, self._slot_names
        return [servers[server] + slots[slot] for server, slot in devices]

    @cached_property
    def _slot_names(self) -> tuple[str, ...]:
        return tuple(f".{self.device_letter}{slot}" for slot in range(self.devices_per_server))

    @cached_property
    def servers_by_name(self) -> dict[str, int]:
        return {name: server for server, name in enumerate(self.server_names)}

    @cached_property
    def slots_by_name(self) -> dict[str, int]:
        return {f"{self.device_letter}{slot}": slot for slot in range(self.devices_per_server)}

    def parse_server(self, name: str) -> int:
        """Index of a server; ValueError names the right form."""
        server = self.servers_by_name.get(name)
        if server is None:
            first, last = self.server_name(0), self.server_name(self.num_servers - 1)
            raise ValueError(f"no server '{name}'; servers are {first} to {last}")
        return server

    def parse_device(self, name: str) -> tuple[int, int]:
        """Server index and slot of a device; ValueError names the right form."""
        head, _, tail = name.rpartition(".")
        slot = self.slots_by_name.get(tail)
        if slot is None:
            first, last = self.device_name(0, 0), self.device_name(self.num_servers - 1, self.devices_per_server - 1)
            raise ValueError(f"no accelerator '{name}'; accelerators are {first} to {last}")
        return self.parse_server(head), slot
