"""Fields of a serving job: what fits together, what follows from them, and files of before."""

from typing import Any

import pytest
from pydantic import ValidationError

from costmodel.workloads import TransformerInference

CHAT: dict[str, Any] = {"model": "llama-3.1-8b", "concurrency": 8, "input_tokens": 1000, "output_tokens": 100}

SPECULATION = {"tokens": 2, "acceptance": 0.5, "draft_cost": 0.1}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"chunk": 512, "batching": "static"}, "chunk: a static batch takes in all prompts at once"),
        ({"model": "bert-large", "prefix_hit": 0.5}, "leave out chunk and prefix_hit"),
        ({"model": "bert-large", "chunk": 64}, "leave out chunk and prefix_hit"),
        ({"concurrency": []}, "concurrency: the list is empty"),
        ({"prefix_hit": 1}, "less than 1"),
        ({"limits": {}}, "no limit in it"),
        ({"offload": []}, "offload: the list is empty"),
        ({"offload": "optimizer"}, "some of weights, cache joined by"),
        ({"offload": ["none", "cache 30 %"]}, "in steps of 12.5 %"),
        ({"offload": "cache", "batching": "static", "pipeline": [1, 2]}, "priced on one stage alone; remove pipeline"),
        (
            {"offload": "cache", "speculation": {"tokens": 2, "acceptance": 0.5, "draft_cost": 0.1}},
            "remove one of them",
        ),
    ],
)
def test_what_does_not_fit_together_is_told(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TransformerInference.model_validate(CHAT | fields)


def test_a_file_of_before_is_written_as_before() -> None:
    written = TransformerInference.model_validate(CHAT).model_dump(mode="json")
    assert not {"limits", "chunk", "prefix_hit", "speculation", "offload"} & set(written)


def test_the_last_token_of_a_prompt_is_never_in_the_cache() -> None:
    assert TransformerInference.model_validate(CHAT | {"prefix_hit": 0.75}).new_tokens == 250
    assert TransformerInference.model_validate(CHAT | {"prefix_hit": 0.9999}).new_tokens == 1


def test_numbers_of_users_ascend_once_each() -> None:
    job = TransformerInference.model_validate(CHAT | {"concurrency": [64, 8, 8]})
    assert job.numbers_of_users == (8, 64)
