"""Collectives on rings that memory nodes make twice as long."""

import pytest

from planner.studies.reproduce.experiments import ring_collectives
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import reproduce_file


def test_small_messages_pay_for_the_hops() -> None:
    inputs = ring_collectives.Inputs.model_validate({"study": "mc-dla", "messages": [1, 2**20, 2**36]})
    found = ring_collectives.compute(inputs)
    assert (found["nodes of a ring"], found["nodes of a ring without"]) == (16, 8)
    for name in ("all-gather", "all-reduce"):
        small, middle, large = (found[f"{name} of {size / 1024:g} KiB"] for size in (1, 2**20, 2**36))
        assert 2 > small > middle > large > 1
        assert small == pytest.approx(2, rel=1e-3)
        assert large == pytest.approx(1, abs=1e-3)
    outcome = reproduce_file(FOLDER / "mcdla" / "ring_collectives.yaml")
    assert {row.verdict for row in outcome.rows} == {"by construction", "reproduced"}


@pytest.mark.parametrize("messages", [[], [0], [1024, -1]])
def test_messages_must_be_there(messages: list[int]) -> None:
    with pytest.raises(ValueError, match="messages"):
        ring_collectives.Inputs.model_validate({"study": "mc-dla", "messages": messages})
