"""Which rails a job lacks on servers that have devices enough."""

from costmodel.wording import counted
from planner.candidates.expand import list_options
from planner.fabrics.shortages import Shortages
from planner.model.edit import with_job
from planner.model.instance import Instance
from planner.model.phrases import listed

MAX_NAMED = 3
"""most ways to lie on rails that a sentence names"""


class OcsRailShortages(Shortages):
    """Rails that must be free together on the same servers."""

    def counted(self, instance: Instance, name: str, size: int) -> str | None:
        """How many rails, on how many servers, the job would need together; None where it needs none."""
        demands = list_options(instance, with_job(instance, name, accelerators=size).job(name)).shapes
        if not demands or not all(demand.num_ports or demand.num_blocks == 1 for demand in demands):
            return None
        needs = sorted({(demand.num_blocks, demand.block) for demand in demands if demand.num_ports})
        ways = [f"{counted(rails, 'rail')} free on the same {counted(servers, 'server')}" for servers, rails in needs]
        return f"needs {listed(ways[:MAX_NAMED], 'or')}" if ways else None
