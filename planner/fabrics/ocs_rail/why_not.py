"""Which rails a job lacks on servers that have devices enough."""

from costmodel.fabrics import OcsRail
from planner.candidates.expand import list_options
from planner.explain.words import listed
from planner.model.instance import Instance
from planner.whatif.edit import with_job

MAX_NAMED = 3
"""most ways to lie on rails that a sentence names"""


def why_no_rails(instance: Instance, name: str, size: int) -> str | None:
    """How many rails, on how many servers, a job of some size would need together; None where it needs none.

    The instance is one in which the job, at this size, was found impossible.
    """
    if not isinstance(instance.cluster.fabric, OcsRail):
        return None
    shapes = list_options(instance, with_job(instance, name, accelerators=size).job(name)).shapes
    if not shapes or not all(shape.num_ports or shape.num_blocks == 1 for shape in shapes):
        return None
    needs = sorted({(shape.num_blocks, shape.block) for shape in shapes if shape.num_ports})
    ways = [f"{rails} rail{'' if rails == 1 else 's'} free on the same {servers} servers" for servers, rails in needs]
    return f"needs {listed(ways[:MAX_NAMED], 'or')}" if ways else None
