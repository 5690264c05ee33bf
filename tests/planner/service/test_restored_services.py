"""A copy that is made while a leader writes and a standby follows is put back, and either goes on."""

from pathlib import Path

import pytest

from tests.planner.service.restored_services import restored


@pytest.mark.slow
def test_a_copy_that_was_made_beside_a_standby_goes_on(tmp_path: Path) -> None:
    assert list(restored(tmp_path, rounds=1)) == []
