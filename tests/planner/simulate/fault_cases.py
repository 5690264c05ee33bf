"""Small replays with a fault or two, shared by tests of what becomes of jobs."""

from planner.placement.job_classes import Site
from planner.simulate.events import Simulation
from planner.simulate.fault_ledger import FaultLedger
from planner.simulate.log import Log
from planner.simulate.outages import Outages
from planner.simulate.placers import PLACERS
from planner.simulate.recovery import Recovery, Response
from planner.simulate.rules import Rules
from planner.simulate.runs import Jobs
from planner.whatif.fault_log import LinkedFault
from tests.planner.simulate.grounds import cluster, ground, mix, state_of

RULES = Rules(downtime_s=30.0, checkpoint_s=60.0)
END_S = 2000.0


def site(fabric: str, servers: int, sizes: list[int]) -> Site:
    """Servers of 8, at recorded durations."""
    return ground("g", cluster(fabric, servers=servers), [1, *sizes], mix("recorded", chat=False))


def run(
    of: Site, rows: list[tuple[float, float, int]], faults: list[LinkedFault], response: Response, spares: int = 0
) -> Simulation:
    """Jobs of (arrival, work, accelerators), and one of a second at the end, after which nothing counts."""
    rows = [*rows, (END_S, 1.0, 1)]
    sizes = sorted({size for _, _, size in rows})
    jobs = Jobs(
        [row[0] for row in rows], [row[1] for row in rows], [of.kinds[0, row[2]] for row in rows],
        [sizes.index(row[2]) for row in rows], [0] * len(rows), sizes,
    )  # fmt: skip
    log = Log(len(rows), 0.0, END_S, faults=FaultLedger(0.0, END_S))
    simulation = Simulation(
        jobs, lambda state: PLACERS["best_fit"](state, 0), state_of(of.cluster), RULES, log,
        outages=Outages(of.cluster, None, END_S, 0, faults), recovery=Recovery(response, spares),
    )  # fmt: skip
    simulation.run()
    return simulation


def figures(simulation: Simulation) -> dict[str, float]:
    """Hours as accelerator-seconds."""
    log = simulation.log
    assert log.faults is not None
    known = log.faults.figures(log.busy_s, log.free_s)
    return {
        name: round(value * 3600, 3) if name.endswith("_h") else value
        for name, value in known.items()
        if value is not None
    }
