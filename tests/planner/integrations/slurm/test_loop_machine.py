"""Any sequence of what users, administrators, parts and Slurm do, the daemon dying between any two of its acts: no
accelerator and no light is used twice, and once all is well again every job has run and nothing is left behind."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.integrations.slurm import hooks
from tests.planner.integrations.slurm.any_acts import Cluster

EXAMPLES = int(os.environ.get("SLURM_EXAMPLES", "16"))
USUAL = ("moment",) * 8 + ("go_on",) * 10 + ("submit",) * 4 + ("submit_array",) * 2 + ("death",) * 3 + ("tick", "start")
RARE = (
    "away", "nonsense", "cancel", "requeue", "hold_or_release", "drain", "node_fails", "resume", "resume", "stranger",
    "fault", "tile_fails", "repair", "epilogs", "change_limit",
)  # fmt: skip
STEPS = st.lists(st.tuples(st.sampled_from((*USUAL, *RARE)), st.integers(0, 10**6)), min_size=60, max_size=100)


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_any_sequence_ends_well(steps: list[tuple[str, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hooks, "BUSY_WAIT_S", 0.0)
        made = Cluster()
        try:
            for name, pick in steps:
                getattr(made, name)(pick)
                made.require_sound()
            made.require_good_end()
        finally:
            made.close()
