"""Few points of the laws of first tokens, with lengths equal and varied; `python -m tests.benchmarks.serving_laws` has
as many as are asked for."""

from tests.benchmarks.serving_laws import broken, point

POINTS = 30


def test_first_tokens_keep_the_laws() -> None:
    assert {point(1, number)[0]["lengths"] for number in range(POINTS)} == {"equal", "varied"}
    assert [told for number in range(POINTS) for told in broken(1, number)] == []
