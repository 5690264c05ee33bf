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


def test_a_proof_leaves_quotas_aside_and_says_so() -> None:
    c = controller("fat_tree", {"quotas": {"a": {"accelerators": 4}}})
    c.submit(request("first", 4, tenant="a"))
    proof = c.prove(request("next", 4, tenant="a"), 10.0)
    assert proof.headline.startswith("tenant a holds 4 of its 4 accelerators")
    assert "; that aside, next fits beside this plan" in proof.headline


def test_a_proof_leaves_what_is_kept_for_the_first_job_aside_and_says_so() -> None:
    c = controller("fat_tree", {"moves": False, "preempts": False})
    for name, size in (("r1", 8), ("r2", 8), ("big", 24)):
        c.submit(request(name, size), at_s=1.0)
    proof = c.prove(request("next", 4), 10.0)
    assert "are kept for big, which is first; that aside, next fits beside this plan" in proof.headline


def test_a_proof_puts_nobody_on_a_drained_server() -> None:
    """Who runs there stays, what is free there counts as failed."""
    c = controller("fat_tree")
    c.submit(request("running", 4))
    for server in range(1, 4):
        c.drain(f"s{server}")
    beside, beyond = (c.prove(request("next", size), 10.0) for size in (4, 8))
    assert any("fits beside the other jobs with 4 accelerators on s0" in said.text for said in beside.statements)
    assert beyond.tag == "does not fit beside this plan"
    told = "accelerators that are free on drained servers count as failed: s1.g0, s1.g1, s1.g2 and 21 more"
    assert all(proof.statements[-1].text == told for proof in (beside, beyond))
