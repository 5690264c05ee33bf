"""Plans that are easy to repair: each job in one server, so that no fiber is lost with it, and one server free."""

from planner.candidates.expand import list_options
from planner.cpsat.solve import plan_of
from planner.fabrics.problem import JobOptions, Problem
from planner.model.edit import edited
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan
from planner.whatif.comparable import JobT, expand_as, references


def in_one_server(instance: Instance) -> Problem:
    """The problem in which jobs that can run in one server do; value is measured as in the instance."""
    most = instance.cluster.fabric.devices_per_server

    def of(job: JobT) -> JobT:
        return edited(job, constraints=edited(job.constraints, one_server=True)) if _can(job, most) else job

    near = edited(instance, jobs=tuple(map(of, instance.jobs)), residents=tuple(map(of, instance.residents)))
    return expand_as(near, references(instance))


def _can(job: Job, most: int) -> bool:
    return job.constraints.per_server is None and min(job.sizes) <= most


def spare_server(instance: Instance) -> tuple[str, ...]:
    """Devices of a server that takes whoever loses a part in another one; none where there is no other one."""
    cluster, fabric = instance.cluster, instance.cluster.fabric
    if fabric.num_servers == 1:
        return ()
    server = max(range(fabric.num_servers), key=lambda s: (len(cluster.lit_slots(s)), s))
    return tuple(fabric.device_name(server, slot) for slot in cluster.lit_slots(server))


def as_listed(instance: Instance, plan: Plan) -> Plan | None:
    """A plan of such a problem in configurations that the instance itself lists; None where one of them is not."""
    listed = Problem(instance, tuple(list_options(instance, job) for job in instance.all_jobs))
    by_name = {options.job.name: options for options in listed.options}
    found = [_as_listed(by_name[assignment.job], assignment) for assignment in plan.assignments]
    return plan_of(listed, [each for each in found if each is not None]) if None not in found else None


def _as_listed(options: JobOptions, assignment: Assignment) -> Assignment | None:
    """The assignment as it is, or, where ranks lie in any servers, with its ranks in smaller blocks."""
    whole = assignment.configuration.block
    for block in range(whole, 0, -1):
        if whole % block == 0 and (block == whole or not options.fabric.places_whole_jobs):
            row = options.row_of(assignment.configuration.model_copy(update={"block": block}))
            if row is not None:
                lies = assignment.devices, assignment.circuits, assignment.memory, assignment.upper
                return options.assignment(row, *lies)
    return None
