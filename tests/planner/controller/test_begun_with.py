"""A journal keeps the cluster that it was begun with; settings that are given take the place of its own."""

from pathlib import Path

import pytest

from planner.controller import Settings
from planner.controller.begun_with import agreed
from planner.controller.journal import Journal
from planner.model.errors import InputError
from tests.planner.simulate.grounds import cluster

PATIENT, HASTY = Settings(patience_s=1e6), Settings(patience_s=1.0)


def test_what_is_given_first_is_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    with pytest.raises(InputError, match="is new; say which cluster it is for"):
        agreed(journal, None, None)
    mine = cluster("lightpath")
    assert agreed(journal, mine, PATIENT) == (mine, PATIENT)
    assert agreed(journal, None, None) == (mine, PATIENT)
    with pytest.raises(InputError, match="is of another cluster"):
        agreed(journal, cluster("fat_tree"), None)
    reader = Journal(tmp_path / "j.db", is_reader=True)
    assert agreed(reader, mine, HASTY) == (mine, HASTY)
    assert agreed(journal, None, None) == (mine, PATIENT), "who reads has written"
    assert agreed(journal, None, HASTY) == (mine, HASTY)
    assert agreed(journal, None, None) == (mine, HASTY)
    for each in (reader, journal):
        each.close()
