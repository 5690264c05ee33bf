"""Bodies of requests: what is odd costs no more than what is right."""

import time

import pytest

from planner.model.errors import InputError
from planner.service.request_body import parse
from tests.planner.service.running import running


def test_a_name_that_comes_twice_is_found_as_fast_as_any() -> None:
    """Of 20,000 names the last one: looking each up in all of them takes seconds, for which nobody is answered."""
    body = "{" + "".join(f'"k{i}": 1, ' for i in range(20_000)) + '"k19999": 1}'
    began_s = time.process_time()
    with pytest.raises(InputError, match="k19999: is given twice"):
        parse(body.encode())
    assert time.process_time() - began_s < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("text", ['{"name": "a", "name": "b"}', '{"workload": {"kind": "x", "kind": "y"}}'])
def test_json_that_says_something_twice_is_refused(text: str) -> None:
    with running() as site:
        answer = site.client.post("/v1/jobs", content=text, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422
        assert answer.json()["problem"] == "is given twice in one object; give it once"
