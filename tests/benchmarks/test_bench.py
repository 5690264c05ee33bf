"""The benchmark runs, and its two models of step 1 agree where they must."""

import pytest

from planner.candidates.expand import expand
from planner.model.edit import with_fabric
from planner.model.instance import Instance
from tests.benchmarks.bench_racks import PLENTIFUL, measure
from tests.benchmarks.highs_step1 import solve_step1

STEPS = 1e-6
"""relative rounding of values in the CP-SAT model"""


def _rack(fibers: int) -> Instance:
    """Two servers of three tiles, one failed: the wide job needs both, and fibers between them."""
    bert = {"kind": "transformer_training", "model": "bert-large", "global_batch": 48, "sequence": 512}
    fabric = {
        "kind": "lightpath", "servers": 2, "tiles_per_server": 3, "wavelengths_per_tile": 4,
        "wavelength_bandwidth": "25 GB/s", "max_peers": 3, "fibers": fibers, "wavelengths_per_fiber": 2,
        "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
    }  # fmt: skip
    jobs = [
        {"name": "wide", "workload": bert, "accelerators": 4, "weight": 3},
        {"name": "pair", "workload": bert, "accelerators": 2, "weight": 2, "utility": "linear"},
        {"name": "single", "workload": bert, "accelerators": [1, 2]},
    ]  # fmt: skip
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": {"failed_tiles": ["s1.t2"]}}
    return Instance.parse({"schema_version": 2, "name": f"tiny-{fibers}", "cluster": cluster, "jobs": jobs})


@pytest.mark.slow
@pytest.mark.parametrize("fibers", [0, 1, 2])
def test_highs_bounds_cp_sat_and_both_agree_with_plentiful_fibers(fibers: int) -> None:
    figures = measure(_rack(fibers), time_limit_s=60, workers=1, deterministic_limit=20)
    assert figures.violations == 0
    assert figures.level1_optimal_s is not None
    assert figures.first_plan_s is not None
    assert figures.first_plan_s <= figures.level1_optimal_s <= figures.total_s
    assert figures.value is not None
    assert figures.highs_bound is not None
    assert figures.plentiful is not None
    assert figures.highs_bound >= figures.value * (1 - STEPS)
    assert figures.fibers_bind == ("yes" if figures.plentiful > figures.value * (1 + 1e-4) else "no")
    highs = solve_step1(expand(with_fabric(_rack(fibers), fibers=PLENTIFUL)), time_limit_s=60)
    assert highs.is_optimal
    assert highs.objective == pytest.approx(figures.plentiful, rel=STEPS)
    assert highs.bound == pytest.approx(figures.plentiful, rel=STEPS)


@pytest.mark.slow
def test_fibers_bind_on_a_rack_without_any() -> None:
    figures = measure(_rack(0), time_limit_s=60, workers=1, deterministic_limit=20)
    assert figures.fibers_bind == "yes"
