"""Units, tray ports and uplinks of a server as bits of one mask, so that a job takes all of a server's at once."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from costmodel.fabrics import Sipam
from planner.fabrics.sipam.server_pool import FreeCounts, FreeServer, Plug
from planner.model.masks import numbers_of

Kind = Literal["unit", "port", "uplink"]


class BitField(NamedTuple):
    """Bits of the units of a tray, of the ports of a tray on a rail, or of the uplinks of a rail: the next `width` from
    `first` on."""

    kind: Kind
    tray: int
    rail: int
    first: int
    width: int
    mask: int


class ServerBits:
    """Which bit is what, the same in every server of a fabric."""

    def __init__(self, fabric: Sipam) -> None:
        trays = range(fabric.trays_per_server)
        kinds: list[tuple[Kind, int, int, int]] = [("unit", tray, -1, fabric.units_per_tray) for tray in trays]
        kinds += [("port", tray, rail, fabric.tray_ports) for rail in range(fabric.local_rails) for tray in trays]
        kinds += [("uplink", -1, rail, fabric.uplinks) for rail in range(fabric.local_rails, fabric.num_io)]
        self._fabric, first = fabric, 0
        self.fields: list[BitField] = []
        for kind, tray, rail, width in kinds:
            self.fields.append(BitField(kind, tray, rail, first, width, (1 << width) - 1 << first))
            first += width
        self._by_place = {field[:3]: field for field in self.fields}
        self.units, self.ports = (sum(f.mask for f in self.fields if f.kind == kind) for kind in ("unit", "port"))
        self.memory = self.units | self.ports
        self._of_trays = [self.field("unit", tray=tray).mask for tray in trays]
        rails = range(fabric.local_rails)
        self._of_rails = [[self.field("port", tray=tray, rail=rail).mask for tray in trays] for rail in rails]

    def field(self, kind: Kind, *, tray: int = -1, rail: int = -1) -> BitField:
        """Bits of the units of a tray, of the ports of a tray on a rail, or of the uplinks of a rail."""
        return self._by_place[kind, tray, rail]

    def free_of(self, server: FreeServer) -> int:
        """Mask of what is free in a server."""
        return sum(1 << field.first + number for field, numbers in self.lists(server) for number in numbers)

    def counts(self, free: int, server: FreeServer) -> FreeCounts:
        """How much is free by a mask; of `server` the rails that work."""
        units = [(free & mask).bit_count() for mask in self._of_trays]
        ports = {rail: [(free & mask).bit_count() for mask in self._of_rails[rail]] for rail in server.ports}
        return FreeCounts(units, ports, len(server.spine))

    def lists(self, server: FreeServer) -> Iterator[tuple[BitField, list[int]]]:
        """Free numbers of each field whose rail works."""
        for field in self.fields:
            if field.kind == "unit":
                yield field, server.units[field.tray]
            elif field.kind == "port" and field.rail in server.ports:
                yield field, server.ports[field.rail][field.tray]
            elif field.kind == "uplink" and field.rail in server.uplinks:
                yield field, server.uplinks[field.rail]

    def of_plugs(self, free: int, ranks: Iterable[Iterable[Plug]]) -> int:
        """The first free units and ports that plugs of ranks ask for."""
        ports, units = dict[tuple[int, int], int](), dict[int, int]()
        for plugs in ranks:
            for rail, tray, number in plugs:
                ports[rail, tray] = ports.get((rail, tray), 0) + 1
                units[tray] = units.get(tray, 0) + number
        taken = 0
        for (rail, tray), number in ports.items():
            taken |= first_bits(free, self._of_rails[rail][tray], number)
        for tray, number in units.items():
            taken |= first_bits(free, self._of_trays[tray], number)
        return taken

    def of_uplinks(self, free: int, rails: Iterable[int], each: int) -> int:
        """The first free uplinks of these rails, so many of each."""
        return sum(first_bits(free, self.field("uplink", rail=rail).mask, each) for rail in rails)

    def names(self, server: int, mask: int) -> Iterator[tuple[Kind, str]]:
        """Units, ports and uplinks of a mask by kind and name."""
        fabric = self._fabric
        for kind, tray, rail, first, _, mine in self.fields:
            for number in numbers_of((mask & mine) >> first):
                if kind == "unit":
                    yield kind, f"{fabric.tray_name(server, tray)}.u{number}"
                elif kind == "port":
                    yield kind, fabric.tray_port_name(server, tray, rail, number)
                else:
                    yield kind, fabric.uplink_name(server, rail, number)


def first_bits(free: int, field: int, number: int) -> int:
    """The first so many free bits of a field's mask, as far as there are any."""
    mine = rest = free & field
    for _ in range(number):
        rest &= rest - 1
    return mine ^ rest
