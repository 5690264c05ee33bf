"""The benchmark of a controller runs: greedy alone and with CP-SAT, on the same arrivals; times are not judged."""

import pytest

from tests.benchmarks.bench_controller import lines


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fat_tree256", "lightpath256"])
def test_every_event_is_counted_and_nothing_is_refused(name: str) -> None:
    said = list(lines([name], [256], events=20, load=0.9, demand="uneven", seeds=2))
    assert len(said) == 5
    for line in said[:-1]:
        assert int(line.partition(" events after")[0].split()[-1]) >= 20
        assert "refused 0, violations 0" in line
    assert all("0 rescued by 0 moves" in line for line in said[:-1:2]), "greedy alone moves nobody"
    assert "CP-SAT against greedy, 2 seeds" in said[-1]
    assert "mean wait" in said[-1]
