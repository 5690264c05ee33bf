"""Questions that are solved, and those that are refused."""

import pytest

from planner.model.errors import ConflictError, InputError
from tests.planner.controller.sites import controller, request


def test_a_proof_says_what_would_let_it_in() -> None:
    c = controller("fat_tree", {"moves": False})
    c.submit(request("running", 20))
    asked = request("next", 16)
    assert not c.ask(asked).starts
    proof = c.prove(asked, 10.0)
    assert proof.tag == "does not fit beside this plan"
    assert any("fits with 12 accelerators" in said.text or "12 are free" in said.text for said in proof.statements)


def test_what_can_never_run_is_refused() -> None:
    c = controller("fat_tree")
    with pytest.raises(InputError):
        c.ask(request("huge", 4096))


def test_a_proof_needs_nobody_who_runs() -> None:
    proof = controller("fat_tree").prove(request("alone", 16), 10.0)
    assert proof.tag == "admitted"


def test_the_name_of_a_job_that_runs_is_refused() -> None:
    c = controller("fat_tree")
    c.submit(request("same", 4))
    with pytest.raises(ConflictError, match="waits or runs already"):
        c.ask(request("same", 8))
