"""Types of files are built when first used, whoever uses them first and however many at once."""

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Barrier
from typing import Any

import pytest
from pydantic import Field, ValidationError, create_model

from costmodel.spec import Bytes, Spec

THREADS = 8


class Outer(Spec):
    number: int = Field(1, ge=0)
    kept_bytes: Bytes = 0.0


def test_a_type_that_many_threads_use_first_refuses_what_it_should() -> None:
    for trial in range(40):
        inner = create_model(f"Inner{trial}", __base__=Outer, least=(int, Field(ge=trial)))
        model: Any = create_model(f"Model{trial}", __base__=Outer, parts=(tuple[inner, ...], ()))  # type: ignore[valid-type]
        start = Barrier(THREADS)

        def first_use(
            number: int, model: Any = model, start: Barrier = start, trial: int = trial
        ) -> tuple[dict[str, Any], str]:
            start.wait()
            made = model.model_validate({"number": number, "kept": "2 GB", "parts": [{"least": trial}]})
            with pytest.raises(ValidationError) as refused:
                model.model_validate({"parts": [{"least": trial - 1}], "unknown": 1})
            return made.model_dump(mode="json"), str(refused.value)

        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(first_use, range(THREADS)))
        part = {"number": 1, "kept": 0.0, "least": trial}
        assert [row for row, _ in found] == [{"number": n, "kept": 2e9, "parts": [part]} for n in range(THREADS)]
        assert all("2 validation errors" in said for _, said in found)


class Doubled(Outer):
    @cached_property
    def twice(self) -> int:
        return 2 * self.number


def test_a_copy_finds_its_own_properties() -> None:
    first = Doubled(number=3)
    assert first.twice == 6
    assert first.model_copy(update={"number": 5}).twice == 10
    assert first.model_copy().twice == first.twice == 6
