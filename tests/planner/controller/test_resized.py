"""What shrinking and growing have in common."""

import pytest

from planner.controller.resized import Resizing, require_resizable, set_aside
from planner.model.edit import edited
from planner.model.errors import ConflictError
from tests.planner.controller.sites import controller, request, resized
from tests.planner.simulate.grounds import CHAT


@pytest.mark.parametrize("event", ["shrink", "grow"])
def test_a_job_that_runs_may_change_in_size_alone(event: Resizing) -> None:
    c = controller()
    c.submit(request("it", 16))
    c.submit(request("waits", 32))
    entries = c._durable.ledger.jobs
    assert require_resizable(event, entries["it"], resized(c, "it", 8, one_server=True)) is c.running["it"]
    with pytest.raises(ConflictError, match=f"{event}: it: differs in more than .* in priority; submit"):
        require_resizable(event, entries["it"], edited(resized(c, "it", 8), priority=3))
    with pytest.raises(ConflictError, match=f"{event}: it: differs in more than .* in workload and duration_s; submit"):
        require_resizable(event, entries["it"], edited(resized(c, "it", 8), workload=CHAT, duration_s=60.0))
    with pytest.raises(ConflictError, match=f"{event}: waits: waits and has not started"):
        require_resizable(event, entries["waits"], resized(c, "waits", 8))


def test_what_is_set_aside_is_taken_again_after_an_error() -> None:
    c = controller()
    c.submit(request("it", 16))
    state = c._durable.state
    with pytest.raises(ZeroDivisionError), set_aside(state, state.ledger.jobs["it"]):
        _ = 1 / (c.num_free - 32)
    assert c.num_free == 16
    assert c.check() == []
