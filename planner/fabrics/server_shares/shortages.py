"""What a job lacks of the memory that the accelerators of a server share."""

from costmodel.fabrics import ServerShares
from costmodel.wording import counted as number_of
from planner.candidates.expand import list_options
from planner.fabrics.free_state import FreeState
from planner.fabrics.server_shares.demand import amounts_of
from planner.fabrics.server_shares.free_shares import FreeShares
from planner.fabrics.shortages import Shortages
from planner.model.edit import with_job
from planner.model.instance import Instance
from planner.model.phrases import accelerators, listed


class SharedShortages(Shortages):
    """Memory of one server, where it is shared."""

    def counted(self, instance: Instance, name: str, size: int) -> str | None:
        """What a part of the job takes of the memory of a server, by its way to run that takes least, and the most that
        is free; None where memory is not what it lacks, or not that alone."""
        fabric, free = instance.cluster.fabric, FreeShares.beside_residents(instance)
        assert isinstance(fabric, ServerShares)
        if not free.are_any:
            return None
        state, names = FreeState.beside_residents(instance), fabric.share_names
        shapes = list_options(instance, with_job(instance, name, accelerators=size).job(name)).shapes.distinct[0]
        if any(sum(state.room(shape)) * shape.part >= size for shape in shapes):
            return None
        least = min(shapes, key=lambda shape: (shape.part * sum(amounts_of(shape)[: len(names)]), shape.part))
        amounts = zip(names, amounts_of(least), free.free, strict=False)
        each = [(what, least.part * amount, max(left)) for what, amount, left in amounts if amount]
        if not each:
            return None
        needs = listed([number_of(amount, what.removesuffix("s")) for what, amount, _ in each])
        taken = f"{accelerators(least.part)} in one server: needs {needs} of its {fabric.share_owner}"
        return f"{taken}; most free in a server are {listed([str(most) for *_, most in each])}"
