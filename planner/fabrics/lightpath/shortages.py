"""What a job may lack of light: fibers, waveguides of its own, power at the receiver."""

from collections.abc import Iterator, Mapping, Sequence

from costmodel.fabrics import FabricBase, Lightpath
from planner.fabrics.joined_racks import more_links
from planner.fabrics.lightpath.more_fibers import Pair, server_pairs, with_fibers, with_fibers_everywhere
from planner.fabrics.server_shares.shortages import SharedShortages
from planner.fabrics.shortages import Lifted, MoreLinks
from planner.model.edit import with_fabric
from planner.model.instance import Instance
from planner.model.phrases import listed
from planner.model.plan import Assignment


class MoreFibers(MoreLinks):
    """Fibers by ordered pair of servers of one rack."""

    def pairs(self, fabric: FabricBase) -> Sequence[Pair]:
        assert isinstance(fabric, Lightpath)
        return server_pairs(fabric)

    def added(self, instance: Instance, more: Mapping[Pair, int]) -> Instance:
        return with_fibers(instance, more)

    def added_everywhere(self, instance: Instance, more: int) -> Instance:
        return with_fibers_everywhere(instance, more)

    def newly_used(self, instance: Instance, assignment: Assignment) -> list[Pair]:
        fabric = instance.cluster.fabric
        pairs: set[Pair] = set()
        for circuit in (circuit for held in assignment.circuits for circuit in held.circuits):
            for fiber in circuit.fibers:
                ends, _, index = fiber.rpartition("#")
                source, _, destination = ends.partition(">")
                pair = fabric.parse_server(source), fabric.parse_server(destination)
                if int(index) >= fabric.num_fibers(*pair):
                    pairs.add(pair)
        return sorted(pairs)

    def phrase(self, fabric: FabricBase, more: Mapping[Pair, int]) -> str:
        """2 more fibers from s0 to s1 and 1 more fiber from s1 to s0"""
        phrases = []
        for (a, b), count in more.items():
            fibers = "fiber" if count == 1 else "fibers"
            phrases.append(f"{count} more {fibers} from {fabric.server_name(a)} to {fabric.server_name(b)}")
        return listed(phrases)


class LightpathShortages(SharedShortages):
    """Modules of a pool are counted; nothing else can be without routes: `planner explain` solves with more fibers, and
    without each limit."""

    links = MoreFibers()

    def lifted(self, instance: Instance) -> Iterator[Lifted]:
        fabric = instance.cluster.fabric
        assert isinstance(fabric, Lightpath)
        if fabric.waveguides == "shared":
            reason = "the waveguides inside the servers are full; fits with dedicated ones"
            yield Lifted(reason, with_fabric(instance, waveguides="dedicated"))
        if fabric.loss_budget_db is not None:
            reason = f"no path stays within the loss budget of {fabric.loss_budget_db:g} dB"
            yield Lifted(reason, with_fabric(instance, loss_budget_db=None))
        yield from more_links.lifted(instance)

    def counted(self, instance: Instance, name: str, size: int) -> str | None:
        return more_links.counted(instance, name, size) or super().counted(instance, name, size)
