"""The benchmark of replays runs: shipped clusters and files, and policies that do not go with a cluster."""

from pathlib import Path

from tests.benchmarks.bench_replay import CLUSTERS, Cell, cluster_file, measure, speed


def test_each_cell_has_a_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text((CLUSTERS / "sipam256.yaml").read_text())
    cells = [Cell(cluster_file(str(path)), policy, None, 300, 0.5) for policy in ("torus_slices", "first_fit")]
    refused, told = measure(cells, runs=1)
    assert refused.startswith("mine")
    assert "has no slices" in refused
    assert "1.00 of the first" in told


def test_speed_is_that_of_the_policy_asked_for() -> None:
    found = speed(Cell(cluster_file("fat_tree256"), "first_fit", None, 300, 0.5))
    assert found.events_per_s > 0 < found.prepared_s
    assert 0 < found.p99_s < 10
