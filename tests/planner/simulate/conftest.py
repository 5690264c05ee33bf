"""Fixtures of the tests in this folder."""

import pytest

from planner.placement.job_classes import Site
from planner.simulate.run_one import Outcome, SimulationRun, Study, replay
from planner.simulate.study import prepare_study
from planner.whatif.failure_model import FailureModel
from tests.planner.simulate.grounds import SMALL_DEMAND, cluster, ground, mix
from tests.planner.simulate.log_cases import Watched


@pytest.fixture(scope="module")
def fat() -> Site:
    return ground("g", cluster("fat_tree"), [1, 2, 4, 8, 16])


@pytest.fixture(scope="module")
def watched(fat: Site) -> Watched:
    return Watched(fat, (0.3, 0.6, 1.0))


@pytest.fixture(scope="module")
def failing() -> Outcome:
    model = FailureModel.model_validate({"tile": {"time_between_failures": "4 h", "repair_time": "1 h"}})
    study = prepare_study(SMALL_DEMAND, mix(), {"t": cluster("torus")}, jobs=150, failures=model)
    study = type(study)(**{**vars(study), "moments": (0.4, 0.8)})
    assert not replay(study, SimulationRun("t", "first_fit", 0.9, 1)).snapshots, "of the first seed alone"
    return replay(study, SimulationRun("t", "first_fit", 0.9, 0))


@pytest.fixture(scope="module")
def study() -> Study:
    clusters = {name: cluster(name) for name in ("fat_tree", "torus")}
    return prepare_study(SMALL_DEMAND, mix(), clusters, jobs=120)
