"""Memory that a controller cannot hand out is refused."""

import pytest

from planner.model.errors import InputError
from tests.planner.controller.sites import controller


def test_memory_that_a_controller_cannot_hand_out_is_refused() -> None:
    with pytest.raises(InputError, match="moves no pages into a pool"):
        controller("sipam", local_memory=True)
