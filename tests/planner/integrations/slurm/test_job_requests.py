"""Held jobs become requests, or say why not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.slurm.commands import SlurmDownError
from planner.integrations.slurm.formats import job_row, node_row
from planner.integrations.slurm.job_requests import descriptor_of, plain
from planner.model.errors import InputError
from tests.planner.integrations.slurm.job_requests_cases import ASKS, asked, row


def test_a_held_job_becomes_a_request() -> None:
    """As many nodes as there are, so many accelerators on each, and what its user said."""
    request = asked(comment="weight=2,utility=linear", nice=100, account="physics")
    assert request.name == "slurm-7"
    assert request.sizes == (8, 12)
    assert request.constraints.per_server == 4
    assert (request.weight, request.utility, request.priority, request.tenant) == (2.0, "linear", -100, "physics")
    assert request.duration_s == 600.0
    assert request.movable
    assert request.preemptible


def test_more_nodes_than_anybody_has_may_be_asked_for() -> None:
    """job_submit.lua writes down as many digits as Slurm counts."""
    assert asked(admin_comment="photonplan:nodes=1-4294967293:gpus=4:type=any").sizes == (4, 8, 12)


def test_a_job_that_may_not_be_requeued_stays() -> None:
    request = asked(can_requeue=False, time_limit_s=None)
    assert not request.movable
    assert not request.preemptible
    assert request.duration_s is None
    assert request.tenant == "alice"


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("workload=gpt", "there is no workload gpt"),
        ("workload=bert workload=bert", "not understood"),
        ("my run", "not understood"),
        ("workload=$(rm)", "not understood"),
        ("tenant=root", "not understood"),
        ("weight=-1", "weight"),
        ("utility=never", "utility"),
    ],
)
def test_nonsense_is_refused_in_plain_words(comment: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("$", r"\$")):
        asked(comment=comment)


def test_more_nodes_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match="there are 3"):
        asked(admin_comment="photonplan:nodes=4-4:gpus=4:type=any")


def test_what_was_written_is_read_again() -> None:
    descriptor = descriptor_of(row())
    assert descriptor is not None
    for allocation in (
        {"at": "0123456789ab"},
        {"is_put_off": True},
        {"why": "no room (2 of 4)"},
        {"at": "f" * 12, "why": "x"},
    ):
        again = descriptor_of(row(admin_comment=descriptor.text(**allocation)))  # type: ignore[arg-type]
        assert again is not None
        assert again.request == ASKS
        assert {name: getattr(again, name) for name in allocation} == allocation
    assert descriptor.gres == "gpu:4"
    typed = descriptor_of(row(admin_comment="photonplan:nodes=1-1:gpus=2:type=a100-sxm4.1:put-off why=full"))
    assert typed is not None
    assert (typed.gres, typed.is_put_off, typed.why) == ("gpu:a100-sxm4.1:2", True, "full")
    for other in ("", "photonplan:", "photonplan:nodes=1-1", "x photonplan:nodes=1-1:gpus=2:type=any"):
        assert descriptor_of(row(admin_comment=other)) is None


@given(st.text())
def test_reasons_hold_nothing_that_anybody_interprets(text: str) -> None:
    assert not set(plain(text)) & set("'\"`$\\\n\r\t\0;|&!{}[]*?~%@^")
    assert plain(plain(text)) == plain(text)


def test_another_slurm_is_noticed() -> None:
    with pytest.raises(SlurmDownError, match="not as its format has it"):
        job_row({"job_id": 1})
    with pytest.raises(SlurmDownError, match="not as its format has it"):
        node_row({"name": "n0", "state": ["IDLE"]})
    node = node_row({"name": "n0", "state": "mixed", "state_flags": ["DRAIN"], "reason": "x"})
    assert (node.is_down, node.is_drained) == (False, True)
    assert node_row({"name": "n0", "state": "down", "state_flags": [], "reason": ""}).is_down
