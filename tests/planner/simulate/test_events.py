"""What happens at each event: backfill keeps its promise, work is conserved, failures interrupt."""

from collections.abc import Callable

import numpy as np
import pytest

from planner.fabrics.job_class import JobClass
from planner.placement.job_classes import Site
from planner.simulate.events import Simulation
from planner.simulate.log import Log
from planner.simulate.make_room import rescue
from planner.simulate.measures import MEASURES, figures
from planner.simulate.outages import Outages
from planner.simulate.placers import PLACERS
from planner.simulate.rules import Rules
from planner.simulate.run_one import Demand, SimulationRun, Study, replay
from planner.simulate.runs import Jobs
from planner.whatif.failure_model import FailureModel
from tests.planner.simulate.grounds import FABRICS, SMALL_DEMAND, cluster, ground, mix, state_of

SIZES = [1, 2, 4, 8, 16]
ALL = {size: [0] for size in SIZES}


def _jobs(of: Site, rows: list[tuple[float, float, int]], priority: list[int] | None = None) -> Jobs:
    """Jobs of (arrival, work, accelerators)."""
    order = sorted({(size, rank) for (_, _, size), rank in zip(rows, priority or [0] * len(rows), strict=True)})
    ranks = priority or [0] * len(rows)
    group = [order.index((size, rank)) for (_, _, size), rank in zip(rows, ranks, strict=True)]
    return Jobs(
        [row[0] for row in rows], [row[1] for row in rows], [of.kinds[0, row[2]] for row in rows], group, ranks,
        [size for size, _ in order],
    )  # fmt: skip


def _run(
    of: Site, jobs: Jobs, rules: Rules | None = None, *, policy: str = "first_fit", outages: Outages | None = None
) -> tuple[Log, Simulation]:
    log = Log(len(jobs), 0.0, max(jobs.arrival_s) or 1.0)
    rules = rules or Rules()
    simulation = Simulation(
        jobs, lambda state: PLACERS[policy](state, 0), state_of(of.cluster), rules, log, outages=outages,
        rescue=rescue if rules.migrate else None,
    )  # fmt: skip
    simulation.run()
    return log, simulation


@pytest.fixture(scope="module")
def fat() -> Site:
    return ground("g", cluster("fat_tree"), [*SIZES, 32], mix("recorded"))


def test_backfill_fills_up_and_never_delays_the_first(fat: Site) -> None:
    """16 of 32 are busy until 100; 32 are wanted first; a short job fits before, a long one would delay it."""
    rows = [(0.0, 100.0, 16), (1.0, 50.0, 32), (2.0, 90.0, 16), (3.0, 200.0, 16), (4.0, 8.0, 16)]
    easy, _ = _run(fat, _jobs(fat, rows))
    assert easy.start_s == [0, 100, 2, 150, 92]
    fifo, _ = _run(fat, _jobs(fat, rows), Rules("fifo"))
    assert fifo.start_s == [0, 100, 150, 150, 240]
    loss, _ = _run(fat, _jobs(fat, rows), Rules("loss"))
    assert np.isnan(loss.start_s).tolist() == [False, True, False, True, True]


def test_a_long_job_runs_beside_the_reservation(fat: Site) -> None:
    """24 are reserved from 100 on: of 8 others a long job may take 8, not 16."""
    rows = [(0.0, 100.0, 16), (0.0, 1000.0, 4), (1.0, 50.0, 16), (1.5, 50.0, 16), (2.0, 500.0, 8), (3.0, 500.0, 4)]
    log, _ = _run(fat, _jobs(fat, rows))
    assert log.start_s[2] == 50 or log.start_s[2] <= 100
    assert log.start_s[5] == 3


def test_priorities_go_first(fat: Site) -> None:
    rows = [(0.0, 10.0, 32), (1.0, 10.0, 32), (2.0, 10.0, 32)]
    log, _ = _run(fat, _jobs(fat, rows, [0, 0, 5]))
    assert log.start_s == [0, 20, 10]


@pytest.mark.slow
@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("policy", ["first_fit", "best_fit"])
def test_reservations_are_kept(fabric: str, policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No first job starts after the time at which a place was reserved for it."""
    of = ground("g", cluster(fabric), SIZES)
    drawn = SMALL_DEMAND.draw(400, 3).at_load(1.0, of.capacity)
    rows = list(zip(drawn.arrival_s.tolist(), drawn.duration_s.tolist(), drawn.num_gpus.tolist(), strict=True))
    promised: dict[int, float] = {}
    original: Callable[..., object] = Simulation._must_wait

    def noting(self: Simulation, head: int, kind: JobClass) -> object:
        waits = original(self, head, kind)
        if self._reserved is not None:
            promised.setdefault(head, self._reserved.time_s)
        return waits

    monkeypatch.setattr(Simulation, "_must_wait", noting)
    log, simulation = _run(of, _jobs(of, rows), policy=policy)
    assert len(promised) > 5
    assert all(log.start_s[job] <= time_s + 1e-6 for job, time_s in promised.items())
    assert simulation.state.num_free == of.capacity
    assert log.moves == 0


def test_work_takes_as_long_as_its_configuration_needs() -> None:
    of = ground("g", cluster("torus"), SIZES)
    rows = [(0.0, 1000.0, 8), (1.0, 10.0, 1)]
    log, _ = _run(of, _jobs(of, rows))
    kind = of.kinds[0, 8]
    assert log.finish_s[0] == pytest.approx(1000 / kind.rows[0].rate)
    assert kind.fastest != 1


def test_a_failure_interrupts_and_the_work_goes_on(fat: Site) -> None:
    model = FailureModel.model_validate({"tile": {"time_between_failures": "2000 s", "repair_time": "100 s"}})
    rows = [(float(i), 3000.0, 8) for i in range(4)] + [(4.0, 1.0, 1), (4000.0, 1.0, 1)]
    outages = Outages(fat.cluster, model, 3000.0, 1)
    log, simulation = _run(fat, _jobs(fat, rows), Rules(downtime_s=30.0), outages=outages)
    assert log.interruptions > 0
    assert log.moves <= log.interruptions
    assert not np.isnan(log.finish_s).any()
    done = np.array(log.finish_s[:4]) - np.array(log.start_s[:4])
    assert (done >= 3000 - 1e-6).all()
    assert done.max() >= 3030 - 1e-6
    assert simulation.runs.busy == 0


@pytest.mark.slow
def test_fibers_and_lasers_fail_too() -> None:
    of = ground("g", cluster("lightpath"), SIZES)
    parts = {kind: {"time_between_failures": "3 h", "repair_time": "10 min"} for kind in ("fiber", "laser", "receiver")}
    drawn = SMALL_DEMAND.draw(150, 1).at_load(0.9, of.capacity)
    rows = list(zip(drawn.arrival_s.tolist(), drawn.duration_s.tolist(), drawn.num_gpus.tolist(), strict=True))
    outages = Outages(of.cluster, FailureModel.model_validate(parts), 3600.0, 0)
    log, _ = _run(of, _jobs(of, rows), outages=outages)
    assert log.interruptions > 0
    assert not np.isnan(log.finish_s).any()


@pytest.mark.slow
@pytest.mark.parametrize("fabric", FABRICS)
def test_figures_are_in_their_ranges(fabric: str) -> None:
    of = ground("g", cluster(fabric), SIZES, mix())
    able = {size: [n for n in (0, 1) if (n, size) in of.kinds] for size in SIZES}
    demand = Demand(SMALL_DEMAND, 300, mix(), able)
    found = replay(Study(demand, {"g": of}, Rules()), SimulationRun("g", "best_fit", 0.8, 0)).figures
    assert found.keys() == MEASURES.keys()
    shares = ("admitted", "utilization", "stranded", "fairness")
    assert all(found[name] is not None and 0 <= found[name] <= 1 for name in shares)  # type: ignore[operator]
    assert found["wait_s_p50"] <= found["wait_s_p95"] <= found["wait_s_p99"]  # type: ignore[operator]
    assert found["slowdown_mean"] >= 1 or fabric == "sipac"  # type: ignore[operator]
    assert (found["fragmentation"] is None) != of.cluster.fabric.measures_fragmentation
    assert (found["reconfigurations"] == 0) == (fabric in ("fat_tree", "sipac", "memory_ring"))


def test_fairness_is_one_where_tenants_fare_alike(fat: Site) -> None:
    jobs = _jobs(fat, [(0.0, 100.0, 32), (0.0, 100.0, 32), (1000.0, 100.0, 32), (1000.0, 100.0, 32)])
    log, _ = _run(fat, jobs)
    alike = figures(log, jobs, np.array([0, 0, 1, 1]), 32)
    apart = figures(log, jobs, np.array([0, 1, 0, 1]), 32)
    assert alike["fairness"] == pytest.approx(1)
    assert apart["fairness"] == pytest.approx((1 + 0.5) ** 2 / (2 * (1 + 0.25)))
    assert alike["utilization"] == pytest.approx(0.2)
    assert alike["goodput_h"] == pytest.approx(32 * 200 / 3600)
