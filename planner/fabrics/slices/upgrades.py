"""More of fabrics whose jobs hold slices."""

from collections.abc import Iterator

from costmodel.fabrics import Torus
from planner.fabrics.joined_racks import more_links
from planner.fabrics.upgrades import Upgrade, Upgrades
from planner.model.edit import edited, with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan


class SipacUpgrades(Upgrades):
    """One more server, and twice the bandwidth of all ports of an accelerator."""

    bandwidth = "bandwidth_bytes_per_s"
    bandwidth_name = "the bandwidth"

    def of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        yield from super().of(instance, plan)
        yield from more_links.upgrades(instance)


class TorusUpgrades(Upgrades):
    """One more server while the switches between servers have ports for both faces, and faster links."""

    bandwidth = "link_bandwidth_bytes_per_s"
    bandwidth_name = "the bandwidth"

    def of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        fabric = instance.cluster.fabric
        assert isinstance(fabric, Torus)
        if fabric.switches is None or 2 * (fabric.servers + 1) <= fabric.switches.ports:
            yield self.of_server(instance)
        yield self.of_bandwidth(instance)
        yield from _fibers_between_boards(instance, fabric)
        yield from more_links.upgrades(instance)


def _fibers_between_boards(instance: Instance, fabric: Torus) -> Iterator[Upgrade]:
    """Twice the wavelengths over them, as far as a chip sends so many."""
    boards = fabric.boards
    if boards is not None and boards.off_board < boards.of_chip:
        wider = edited(boards, wavelengths_per_fiber=min(2 * boards.off_board, boards.of_chip))
        change = f"{wider.off_board} in place of {boards.off_board} wavelengths over each fiber between boards"
        yield Upgrade.of(change, lambda: with_fabric(instance, boards=wider))
