"""Inputs of a replay: demand, clusters, policies, loads, moments and prices."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.option_names import naming_options
from planner.cli.output import console

if TYPE_CHECKING:
    from planner.model.cluster import Cluster
    from planner.prices import Prices
    from planner.simulate.demand import DemandModel
    from planner.simulate.rules import Discipline
    from planner.simulate.run_one import Outcome, SimulationRun, Study
    from planner.simulate.trace import Trace

DRAWN_JOBS = 5000
"""of one replication, where a demand model draws them"""
MOST_SNAPSHOTS = 12


def read_study(
    demand: Path,
    clusters: Sequence[Path],
    jobs: int | None,
    mix: Path | None,
    queue: "Discipline",
    migrate: bool,
    downtime_s: float,
    failures: Path | None,
    answered: tuple[Path | None, str | None, str],
    warm_up: float,
    snapshots: str,
) -> "Study":
    """All files read, every kind of job expanded; `answered`: a fault log, responses and rules."""
    from planner.cli.fault_inputs import faults_of
    from planner.model.files import load
    from planner.placement.job_mix import load_mix
    from planner.simulate.demand import DemandModel
    from planner.simulate.rules import Rules
    from planner.simulate.study import prepare_study
    from planner.whatif.failure_model import FailureModel

    source, moments = _source(demand), _moments(snapshots)
    faults = faults_of(failures, *answered)
    checkpoint_s = 0.0 if faults is None else faults.rules.checkpoint_s
    with naming_options():
        study = prepare_study(
            source,
            load_mix(mix),
            _clusters(clusters),
            jobs=DRAWN_JOBS if jobs is None and isinstance(source, DemandModel) else jobs,
            rules=Rules(queue, migrate=migrate, downtime_s=downtime_s, checkpoint_s=checkpoint_s),
            failures=load(FailureModel, failures) if failures is not None else None,
            faults=faults,
            warm_up=warm_up,
        )
    return replace(study, moments=moments)


def replayed(
    study: "Study", policies: str, load: str | None, seeds: int, results: Path, workers: int, ray: str | None
) -> "dict[SimulationRun, Outcome]":
    """Outcomes of all policies, with all responses to faults, at all loads."""
    from planner.cli.progress import telling
    from planner.simulate.fault_study import with_responses
    from planner.simulate.study import cells_of, run_study

    names = with_responses(names_of(policies), study.faults)
    with naming_options():
        cells = cells_of(study, names, loads_of(load), seeds)
        return run_study(study, cells, results, workers=workers, ray=ray, on_cell=telling("replays"))


def _source(path: Path) -> "Trace | DemandModel":
    from planner.simulate.demand import load_demand
    from planner.simulate.trace import read_trace

    return load_demand(path) if path.suffix in (".yaml", ".yml", ".json") else read_trace(path)


def _clusters(paths: Sequence[Path]) -> "dict[str, Cluster]":
    """Clusters by the name of their file, which may be an instance too."""
    from planner.model.cluster import load_cluster
    from planner.model.errors import InputError

    found: dict[str, Cluster] = {}
    for path in paths:
        if path.stem in found:
            raise InputError(str(path), "--cluster", f"'{path.stem}' is the name of two files; rename one")
        found[path.stem] = load_cluster(path)
    return found


def names_of(text: str) -> list[str]:
    """Policies by commas, the first of them the baseline; what a former name means is told."""
    from planner.model.errors import InputError
    from planner.simulate.placers import FORMER, MEANINGS

    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise InputError("--policies", "", "names no policy; give some, such as first_fit,best_fit")
    for name in (name for name in names if name in FORMER):
        now = FORMER[name]
        text = f"{name} in a replay is {now}: {MEANINGS[now]}; the solver itself is solver: {MEANINGS['solver']}"
        console(stderr=True).print(text, soft_wrap=True)
    return names


def loads_of(text: str | None) -> list[float | None]:
    """Loads by commas; None alone for the arrivals of the trace."""
    from planner.model.errors import InputError
    from planner.simulate.study import MOST_LOAD

    if text is None:
        return [None]
    loads: list[float | None] = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = 0.0
        if not 0 < value <= MOST_LOAD:
            problem = f"is no load; give numbers above 0 and up to {MOST_LOAD}, such as 0.7,0.9,1.1"
            raise InputError("--load", f"'{part.strip()}'", problem)
        loads.append(value)
    return list(dict.fromkeys(loads))


def _moments(text: str) -> tuple[float, ...]:
    """Shares of the time by commas, ascending; none for an empty text."""
    from planner.model.errors import InputError

    shares = sorted({_share(part) for part in text.split(",") if part.strip()})
    if len(shares) > MOST_SNAPSHOTS:
        raise InputError("--snapshots", "", f"are {len(shares)} moments; give at most {MOST_SNAPSHOTS}")
    return tuple(shares)


def _share(text: str) -> float:
    from planner.model.errors import InputError

    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise InputError("--snapshots", f"'{text.strip()}'", "is no share of the time; give some such as 0.25,0.5,0.9")
    return value


def prices_of(path: Path | None, study: "Study") -> "Prices | None":
    """Prices of all clusters, where there are any."""
    from planner.model.files import load
    from planner.prices import Prices

    if path is None:
        return None
    clusters = {name: ground.cluster for name, ground in study.grounds.items()}
    return load(Prices, path).filled(clusters, str(path))
