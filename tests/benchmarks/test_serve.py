"""The benchmark of the service runs, and what it drives is sound; how quick, only the benchmark itself says."""

from tests.benchmarks.bench_serve import main


def test_a_service_under_load_and_overload_answers_each_request() -> None:
    normal, overload, recovered = main(
        [
            "--seconds",
            "1",
            "--rate",
            "100",
            "--overload",
            "40",
            "--",
            "--rate",
            "200",
            "--queue",
            "64",
            "--queue-time",
            "600",
        ]
    )
    assert set(normal.latencies_s) == {200}
    assert set(overload.latencies_s) == {200, 429}
    assert sum(map(len, overload.latencies_s.values())) == overload.due
    assert set(recovered.latencies_s) == {200}
