"""Bandwidth of the host's memory, and rings that memory nodes make longer."""

import pytest

from planner.studies.reproduce.experiments import ring_collectives
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


def _outcome(name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / "mcdla" / f"{name}.yaml")


@pytest.mark.slow
def test_copies_never_exceed_what_their_links_carry() -> None:
    outcome = _outcome("host_memory")
    found = outcome.quantities
    assert (found["links of DC-DLA"], found["links of HC-DLA"]) == (4 * 8e9, 4 * 3 * 25e9)
    for system in ("DC-DLA", "HC-DLA"):
        least, mean, most = (found[f"{each} use of {system}"] for each in ("least", "mean", "most"))
        assert 0 < least <= mean <= most <= found[f"links of {system}"] * (1 + 1e-9)
    assert found["most use of MC-DLA(B)"] == found["most use of oracle"] == 0
    assert not [row for row in outcome.rows if row.is_failure]


def test_small_messages_pay_for_the_hops() -> None:
    inputs = ring_collectives.Inputs.model_validate({"study": "mc-dla", "messages": [1, 2**20, 2**36]})
    found = ring_collectives.compute(inputs)
    assert (found["nodes of a ring"], found["nodes of a ring without"]) == (16, 8)
    for name in ("all-gather", "all-reduce"):
        small, middle, large = (found[f"{name} of {size / 1024:g} KiB"] for size in (1, 2**20, 2**36))
        assert 2 > small > middle > large > 1
        assert small == pytest.approx(2, rel=1e-3)
        assert large == pytest.approx(1, abs=1e-3)
    assert {row.verdict for row in _outcome("ring_collectives").rows} == {"by construction", "reproduced"}
