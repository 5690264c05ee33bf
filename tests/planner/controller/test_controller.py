"""What users of topology-aware schedulers complain about, as cases that must come out right."""

import pytest

from planner.controller import Move, Start
from planner.model.errors import InputError
from tests.oracles.controller import World
from tests.planner.controller.sites import chat, controller, request, started
from tests.planner.controller.stories import servers_of


def test_single_accelerator_jobs_fill_one_server_after_the_other() -> None:
    """Not scattered over racks: the job of a whole server still finds one."""
    c = controller("lightpath", racks=2)
    for i in range(12):
        c.submit(request(f"single{i}", 1))
    assert sorted({name for place in c.running.values() for name in servers_of(place.device_names)}) == [
        "r0.s0",
        "r0.s1",
    ]
    assert started(c.submit_all([request(f"whole{i}", 8) for i in range(6)])) == [f"whole{i}" for i in range(6)]


def test_jobs_of_one_cycle_never_get_the_same_accelerators() -> None:
    c = controller("lightpath")
    decisions = c.submit_all([request(f"j{i}", size) for i, size in enumerate((8, 8, 4, 8, 8, 2, 2, 1))])
    names = [name for decision in decisions if isinstance(decision, Start) for name in decision.devices]
    assert len(set(names)) == len(names) <= 32
    assert c.check() == []


def test_a_redundant_update_changes_nothing() -> None:
    """The same job submitted again is told what it does: a segment of 12 stays as it is."""
    c = controller("lightpath")
    (start,) = c.submit(chat("chat", [1, 2]))
    assert isinstance(start, Start)
    before, state = c.seq, c.state()
    (again,) = c.submit(chat("chat", [1, 2]))
    assert isinstance(again, Start)
    assert (again.devices, again.circuits) == (start.devices, start.circuits)
    assert (c.seq, c.state()) == (before, state)
    assert c.fail("s3.t1") == ()
    seq = c.seq
    assert c.fail("s3.t1") == ()
    assert c.drain("s2") == ()
    assert c.drain("s2") == ()
    assert c.seq == seq + 1
    assert c.running["chat"].device_names == start.devices


def test_a_keeper_puts_back_what_it_has_taken_down_and_what_an_operator_says_stays() -> None:
    c = controller("fat_tree")
    c.fail("s1", keeper="nodes")
    c.drain("s1", keeper="nodes")
    c.drain("s2")
    c.drain("s2", keeper="nodes")
    assert c.kept_down("nodes") == ({"s1"}, {"s1"})
    with pytest.raises(InputError, match="was not drained by nodes"):
        c.undrain("s2", keeper="nodes")
    c.repair("s1", keeper="nodes")
    assert c.down == ("s1", "s2"), "it is drained yet"
    c.drain("s1")
    assert c.kept_down("nodes") == (set(), set())
    c.fail("s3", keeper="nodes")
    c.repair("s3")
    with pytest.raises(InputError, match="was not failed by nodes"):
        c.repair("s3", keeper="nodes")


def test_the_list_of_nodes_is_the_shortest_there_is() -> None:
    """Jobs stand on as few servers as they fit on, so that as few as possible can take them down."""
    c = controller("fat_tree")
    c.submit(request("two", 2))
    for name, size, least in (("six", 6, 1), ("sixteen", 16, 2), ("eight", 8, 1)):
        (start,) = c.submit(request(name, size))
        assert isinstance(start, Start)
        assert len(servers_of(start.devices)) == least
    c.drain("s3")
    assert all(len(place.servers) == -(-len(place.devices) // 8) for place in c.running.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: c.cancel("nobody"), "no job 'nobody' waits or runs"),
        (lambda c: c.finish("waits"), "has not started; cancel it"),
        (lambda c: c.fail("s9.t1"), "servers are s0 to s3"),
        (lambda c: c.fail("nonsense"), "accelerators are s0.t0 to s3.t7"),
        (lambda c: c.repair("s0.t1"), "has neither failed nor been drained"),
        (lambda c: c.drain("s12"), "servers are s0 to s3"),
        (lambda c: c.submit(request("runs", 8, priority=1)), "already with other content"),
        (lambda c: c.submit(request("runs", 8, tenant="others")), "is the name of another tenant's job; take another"),
        (lambda c: c.submit(request("huge", 64)), "a rack has 32"),
        (lambda c: c.submit_all([request("x"), request("x")]), "a name of its own"),
        (lambda c: c.submit_all([request("x"), request("runs", 32)]), "leave it out"),
        (lambda c: c.submit(request("x", 4, tenant="small")), "takes more than tenant small may ever hold"),
        (lambda c: c.replan(-1), "give seconds"),
        (lambda c: c.cancel("runs", at_s=float("nan")), "give seconds from 0 on"),
        (lambda c: c.cancel("runs", key="first"), "given to another event"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(call, words: str) -> None:  # type: ignore[no-untyped-def]
    c = controller("lightpath", {"quotas": {"small": {"accelerators": 2}}})
    c.submit(request("runs", 32), key="first")
    c.submit(request("waits", 8))
    before, state = c.seq, c.state()
    with pytest.raises(InputError, match=words):
        call(c)
    assert (c.seq, c.state()) == (before, state)


def test_jobs_of_one_cycle_are_not_started_at_one_place_and_moved_to_another() -> None:
    """Who starts and makes room at the same event is told once, where it ends up: nothing is booked twice meanwhile."""
    c, world = controller("fat_tree", {"downtime_s": 1}), World()
    for name, size in (("full", 8), ("four", 4), ("one", 1), ("six", 6)):
        assert world.carry_out(c.submit(request(name, size, movable=False)), set()) == []
    batch = [request("a", 1), request("b", 2), request("c", 2), request("whole", 8, constraints={"one_server": True})]
    decisions = c.submit_all(batch)
    assert world.carry_out(decisions, set()) == []
    assert sorted(started(decisions)) == ["a", "b", "c", "whole"]
    assert not [decision for decision in decisions if isinstance(decision, Move)]
    assert world.on == c.circuits()
    assert c.check() == []


def test_a_pipeline_whose_stages_divide_sequences_runs_on_rails() -> None:
    """The guard draws its circuits by rank itself: only one layout of the ranks passes."""
    training = {"kind": "transformer_training", "model": "llama-3.1-8b", "global_batch": 16, "sequence": 32768}
    c = controller("ocs_rail")
    large = request("long", 16, workload=training | {"context": [4], "recompute": "full", "micro_batch": 1})
    assert started(c.submit(large)) == ["long"]
    configuration = c.running["long"].configuration
    assert configuration.context > 1 < configuration.pipeline
    assert c.running["long"].circuits
    assert c.check() == []
