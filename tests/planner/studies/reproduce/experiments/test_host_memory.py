"""Bandwidth of the host's memory."""

import pytest

from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import reproduce_file


@pytest.mark.slow
def test_copies_never_exceed_what_their_links_carry() -> None:
    outcome = reproduce_file(FOLDER / "mcdla" / "host_memory.yaml")
    found = outcome.quantities
    assert (found["links of DC-DLA"], found["links of HC-DLA"]) == (4 * 8e9, 4 * 3 * 25e9)
    for system in ("DC-DLA", "HC-DLA"):
        least, mean, most = (found[f"{each} use of {system}"] for each in ("least", "mean", "most"))
        assert 0 < least <= mean <= most <= found[f"links of {system}"] * (1 + 1e-9)
    assert found["most use of MC-DLA(B)"] == found["most use of oracle"] == 0
    assert not [row for row in outcome.rows if row.is_failure]
