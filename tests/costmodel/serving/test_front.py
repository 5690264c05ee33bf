"""The front of tokens/s of an accelerator against those of a user, against each number of users alone."""

from typing import Any

import numpy as np
import pytest

from costmodel.pricing.listing import listed_and_priced
from costmodel.serving.front import serving_front
from costmodel.serving.limits import ServingLimits
from costmodel.workloads import TransformerInference
from tests.costmodel.pricing.unlisted_cases import H100, fabric

CHAT = TransformerInference(model="llama-3.1-8b", concurrency=1, input_tokens=512, output_tokens=128)
USERS = (1, 4, 16, 64)


@pytest.mark.parametrize("name", ["fat_tree", "sipam"])
def test_no_candidate_beats_the_front_and_each_of_it_is_one(name: str) -> None:
    on = fabric(name)
    front = serving_front(CHAT, (1, 4), H100, on, users=USERS)
    points = np.stack([front.per_user[front.rows], front.per_device[front.rows]])
    assert np.all(np.diff(points[0]) < 0)
    assert np.all(np.diff(points[1]) > 0)
    found: list[Any] = []
    for users in USERS:
        candidates, scores = listed_and_priced(CHAT.model_copy(update={"concurrency": users}), (1, 4), H100, on)
        found += zip(1 / scores.tpot_s, scores.speed / candidates.num_devices, strict=True)
    for user, device in found:
        assert np.any((points[0] >= user * (1 - 1e-12)) & (points[1] >= device * (1 - 1e-12)))
    for user, device in points.T.tolist():
        assert any((user, device) == pytest.approx(each) for each in found)


def test_limits_of_the_job_cut_the_front() -> None:
    limits = ServingLimits(tpot_s=6e-3)
    free, cut = (
        serving_front(job, (1, 4), H100, fabric("fat_tree"), users=USERS)
        for job in (CHAT, CHAT.model_copy(update={"limits": limits}))
    )
    assert free.per_user.min() < 1 / 6e-3 <= cut.per_user.min()
    assert cut.per_device.max() < free.per_device.max()


def test_users_without_a_place_are_left_out() -> None:
    """80 GB hold a few dozen requests of 8,192 tokens of 131,072 B beside 16 GB of weights."""
    long = CHAT.model_copy(update={"input_tokens": 8000})
    front = serving_front(long, (1,), H100, fabric("fat_tree"), users=(1, 16, 4096))
    assert sorted(front.scores.work.tolist()) == [1, 16]


def test_answers_of_one_token_have_no_front() -> None:
    with pytest.raises(ValueError, match="an answer of one token"):
        serving_front(CHAT.model_copy(update={"output_tokens": 1}), (1,), H100, fabric("fat_tree"))
