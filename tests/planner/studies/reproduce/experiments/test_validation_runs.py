"""Runs of a described validation."""

from itertools import product

from tests.planner.studies.reproduce.experiments.photonic_fabric import outcome


def test_runs_are_counted_one_by_one() -> None:
    found = outcome("validation").quantities
    requests = [(n, 32) for n in (1, 32, 64, 128, 256, 512, 1024, 2048)]
    requests += [(512, n) for n in (32, 64, 128, 256, 512, 1024, 2048)]
    systems = [("H100", 4), ("H100", 8), ("H200", 2), ("H200", 4), ("H200", 8)]
    runs = list(product(systems, (1, 16, 32, 64), requests))
    assert (found["runs"], found["distinct runs"]) == (len(runs), len(set(runs)))
    assert found["runs on H200"] == sum(system[0] == "H200" for system, _, _ in runs) == 180
    assert found["runs with each degree counted once"] == 180


def test_the_printed_number_is_contradicted() -> None:
    assert [row.verdict for row in outcome("validation").rows if row.quantity == "runs"] == ["contradicted"]
