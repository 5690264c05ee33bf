"""Servers that a job takes of each rack."""

from collections import Counter
from collections.abc import Iterator

from planner.checks.names import admitted, ranks_by_server
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_servers_by_rack(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """A job that asks for numbers of servers has one of them in each of its racks, each as often as it is asked for; or
    as many in each as its bounds allow."""
    fabric = instance.cluster.fabric
    for job, assignment in admitted(instance, plan):
        asked = job.constraints.servers_by_rack
        if asked is None:
            continue
        found = Counter(server // fabric.servers for server in ranks_by_server(fabric, assignment))
        if isinstance(asked, tuple):
            missing, extra = Counter(asked), Counter(found.values())
            wrong = (missing - extra).total() + (extra - missing).total()
            wanted = " and ".join(map(str, sorted(asked)))
        else:
            wrong = sum(max(asked.min - number, number - asked.max, 0) for number in found.values())
            wanted = f"{asked.min} to {asked.max} in each"
        if wrong:
            given = " and ".join(map(str, sorted(found.values())))
            message = f"{job.name}: its racks give {given} servers, asked for: {wanted}"
            yield Violation("servers_by_rack", job.name, message, float(wrong))
