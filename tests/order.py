"""Files of tests that take longest: where processes share the tests, they begin first, so that all end together."""

from pathlib import Path

import pytest

from tests.paths import ROOT

LONGEST = (
    "simulation/test_many_seeds.py",
    "slurm/test_cluster.py",
    "planner/cpsat/test_against_brute_force.py",
    "planner/pages/test_policies.py",
    "planner/sweep/test_over_ray.py",
    "test_manual.py",
    "test_instances.py",
    "planner/sweep/test_run.py",
    "planner/pages/test_loop.py",
    "planner/controller/test_controller_machine.py",
    "planner/integrations/test_ray_placement_groups.py",
    "costmodel/calibrate/test_serving.py",
    "planner/fabrics/test_conformance_groups.py",
    "slurm/test_install.py",
    "simulation/test_simulation.py",
    "planner/fabrics/test_conformance.py",
    "costmodel/collectives/test_best.py",
    "planner/report/test_report.py",
    "planner/fabrics/sipam/test_against_enumeration.py",
    "costmodel/calibrate/test_gemm.py",
    "benchmarks/test_shared.py",
    "planner/integrations/switch_drivers/test_hook_driver.py",
    "planner/integrations/slurm/test_loop_machine.py",
    "planner/integrations/switch_drivers/ocs/test_driver.py",
    "planner/candidates/test_phase_settings.py",
    "mpi/test_run_schedule.py",
    "test_architecture.py",
)
"""about 20 s and more of a processor, or of waiting; one that waits stands between some that do not"""


def longest_first(items: list[pytest.Item]) -> None:
    """Put tests of these files first; those of a file stay in their order."""
    places = {ROOT / "tests" / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(Path(item.path), len(places)))
