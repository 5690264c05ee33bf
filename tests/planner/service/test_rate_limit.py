"""Tokens of a bucket come back with time."""

import pytest

from planner.service.rate_limit import MOST_ADDRESSES, RateLimit
from tests.planner.service.running import running


def test_an_address_that_asks_too_often_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(
        "planner.service.middleware.RateLimit", lambda rate_per_s: RateLimit(rate_per_s, lambda: now[0])
    )
    with running(rate_per_s=5) as site:
        answers = [site.client.get("/v1/jobs") for _ in range(12)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 7
        (retry_after,) = {int(answer.headers["retry-after"]) for answer in answers[5:]}
        assert retry_after > 0
        assert site.client.get("/healthz").status_code == 200
        now[0] += retry_after
        assert site.client.get("/v1/jobs").status_code == 200


def test_tokens_of_a_bucket_come_back_with_time() -> None:
    now = [0.0]
    rates = RateLimit(2, lambda: now[0])
    assert [rates.allows("a") for _ in range(3)] == [True, True, False]
    assert rates.allows("b")
    now[0] = 0.5
    assert [rates.allows("a") for _ in range(2)] == [True, False]
    now[0] = 100
    assert [rates.allows("a") for _ in range(3)] == [True, True, False]
    for number in range(2 * MOST_ADDRESSES):
        rates.allows(str(number))
    assert len(rates._buckets) == MOST_ADDRESSES
    assert all(RateLimit(0).allows("a") for _ in range(100))
