"""What a job lacks where accelerators share appliances: modules, ports, or units of the second tier behind them."""

from costmodel.wording import counted
from planner.candidates.expand import list_options
from planner.fabrics.divided_ports.claims import SHARED
from planner.fabrics.divided_ports.demand import amounts_of
from planner.fabrics.divided_ports.free_state import SharedFreeState
from planner.fabrics.free_state import FreeState
from planner.fabrics.shortages import Shortages
from planner.model.edit import with_job
from planner.model.instance import Instance
from planner.model.phrases import accelerators, listed


class DividedPortsShortages(Shortages):
    """What the appliances of a server have."""

    def counted(self, instance: Instance, name: str, size: int) -> str | None:
        """What a part of the job takes of the appliances of a server, by its way to run that takes least, and the most
        that is free; None where memory is not what it lacks, or not that alone."""
        state = FreeState.beside_residents(instance)
        assert isinstance(state, SharedFreeState)
        shapes = list_options(instance, with_job(instance, name, accelerators=size).job(name)).shapes.distinct[0]
        if not state.shares.are_any or any(sum(state.room(shape)) * shape.part >= size for shape in shapes):
            return None
        least = min(shapes, key=lambda shape: (shape.part * sum(amounts_of(shape)), shape.part))
        each = [(what, least.part * amount) for what, amount in enumerate(amounts_of(least)) if amount]
        needs = listed([counted(amount, SHARED[what].removesuffix("s")) for what, amount in each])
        most = listed([str(max(state.shares.free[what])) for what, _ in each])
        taken = f"{accelerators(least.part)} in one server: needs {needs} of its appliances"
        return f"{taken}; most free in a server are {most}"
