"""What users of topology-aware schedulers complain about, as cases that must come out right."""

import pytest

from planner.controller import Move, Start, Stop, Wait, scheduling_cycle
from planner.model.errors import InputError
from tests.oracles.controller import World
from tests.planner.controller.sites import chat, controller, request, started
from tests.planner.simulate.grounds import FABRICS


def servers_of(names: tuple[str, ...]) -> list[str]:
    return sorted({name.rpartition(".")[0] for name in names})


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


def test_preemption_frees_accelerators_that_lie_together() -> None:
    """Eight on different nodes are of no use to a job that needs a server: one job gives way, not eight."""
    c = controller("fat_tree")
    for i in range(3):
        c.submit_all([request(f"large{i}", 4), *(request(f"small{i}.{k}", 1) for k in range(4))])
    c.submit(request("whole", 8))
    decisions = c.submit(request("urgent", 8, priority=5, constraints={"one_server": True}))
    stops = [decision for decision in decisions if isinstance(decision, Stop)]
    assert [stop.job for stop in stops] == ["whole"]
    assert stops[0].why == "preempted"
    assert stops[0].waits
    (start,) = [decision for decision in decisions if isinstance(decision, Start)]
    assert start.job == "urgent"
    assert servers_of(start.devices) == ["s3"]
    assert "whole" in c.waiting
    assert c.check() == []


def test_nobody_gives_way_in_vain() -> None:
    """Jobs of equal or higher priority, and those that may not be stopped, stay; then nobody is stopped at all."""
    c = controller("fat_tree")
    for i in range(4):
        c.submit(request(f"peer{i}", 8, priority=5 if i else 0, preemptible=i != 0))
    decisions = c.submit(request("urgent", 8, priority=5))
    assert not [decision for decision in decisions if isinstance(decision, Stop)]
    assert len(c.running) == 4


def test_jobs_of_one_cycle_never_get_the_same_accelerators() -> None:
    c = controller("lightpath")
    decisions = c.submit_all([request(f"j{i}", size) for i, size in enumerate((8, 8, 4, 8, 8, 2, 2, 1))])
    names = [name for decision in decisions if isinstance(decision, Start) for name in decision.devices]
    assert len(set(names)) == len(names) <= 32
    assert c.check() == []


def test_pending_although_enough_is_free_is_explained() -> None:
    """Who waits beside 16 free accelerators is told where these are and who stands in the way."""
    c = controller("fat_tree", {"moves": False})
    for server in range(4):
        c.submit_all([request(f"half{server}", 4, movable=False), request(f"other{server}", 4)])
    for server in range(4):
        c.finish(f"other{server}")
    assert c.num_free == 16
    (_, wait) = c.submit(request("whole", 8, constraints={"one_server": True}))
    assert isinstance(wait, Wait)
    assert wait.tag == "scattered"
    assert "8 accelerators are needed and 16 are free" in wait.because
    assert "4 servers with at most 4 each" in wait.because
    assert "s0 would have 8 free without half0" in wait.because
    assert c.job("whole").waits_for == wait
    c.finish("half0")
    assert "whole" in c.running


def test_who_waits_for_light_is_told_so() -> None:
    """Accelerators are free on two servers, but the fibers between them are dark."""
    c = controller("lightpath", {"moves": False}, fibers=0)
    for server in range(4):
        c.submit_all([request(f"half{server}", 4, movable=False), request(f"other{server}", 4)])
    for server in range(4):
        c.finish(f"other{server}")
    wait = c.submit(request("spread", 8))[-1]
    assert isinstance(wait, Wait)
    assert wait.tag == "light"
    assert "no optical circuits are left" in wait.because


def test_room_is_made_by_the_fewest_moves_that_pay() -> None:
    """Consolidation is not drastic: one job moves where one move suffices."""
    c = controller("fat_tree", {"downtime_s": 5})
    for server in range(4):
        c.submit_all([request(f"a{server}", 2), request(f"b{server}", 6)])
    for server in range(4):
        c.finish(f"b{server}")
    decisions = c.submit(request("whole", 8, constraints={"one_server": True}))
    moves = [decision for decision in decisions if isinstance(decision, Move)]
    assert len(moves) == 1
    assert len(moves[0].devices) == 2
    assert started(decisions) == ["whole"]
    assert c.check() == []


def test_nothing_moves_where_that_costs_more_than_waiting() -> None:
    """The jobs in the way end in ten seconds; to move one costs two accelerators a minute."""
    c = controller("fat_tree", {"downtime_s": 60})
    for server in range(4):
        c.submit_all([request(f"a{server}", 2, duration_s=10), request(f"b{server}", 6)], at_s=0)
    for server in range(4):
        c.finish(f"b{server}", at_s=1)
    decisions = c.submit(request("whole", 8, constraints={"one_server": True}), at_s=2)
    assert not [decision for decision in decisions if isinstance(decision, Move)]
    assert c.replan(1.0, at_s=3) == ()
    c.finish("a2", at_s=9)
    assert "whole" in c.running


def test_nothing_moves_where_nobody_waits() -> None:
    c = controller("fat_tree")
    for i in range(8):
        c.submit(request(f"j{i}", 4))
    for i in range(0, 8, 2):
        c.finish(f"j{i}")
    before = c.seq
    assert c.replan(1.0) == ()
    assert c.seq == before


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


def test_a_drained_server_loses_its_jobs_and_gets_none() -> None:
    c = controller("lightpath", {"downtime_s": 5})
    c.submit_all([request("a", 4), request("b", 2), request("stays", 2, movable=False)])
    home = c.running["stays"].servers
    moved = {decision.job for decision in c.drain("s0") if isinstance(decision, Move)}
    assert moved == {"a", "b"}
    assert c.running["stays"].servers == home == (0,)
    assert all(0 not in place.servers for name, place in c.running.items() if name != "stays")
    assert started(c.submit_all([request(f"w{i}", 8) for i in range(3)])) == ["w0", "w1"]
    assert started(c.finish("stays")) == []
    assert started(c.repair("s0")) == ["w2"]
    assert c.check() == []


@pytest.mark.slow
@pytest.mark.parametrize("fabric", sorted(FABRICS))
def test_no_fabric_places_a_job_on_a_drained_server(fabric: str) -> None:
    c = controller(fabric)
    for server in ("s0", "s2", "s3"):
        c.drain(server)
    assert started(c.submit_all([request("a", 4), request("b", 4), request("c", 1)])) == ["a", "b"]
    assert {server for place in c.running.values() for server in place.servers} == {1}
    c.repair("s2")
    assert set(c.running["c"].servers) == {2}
    assert c.check() == []


@pytest.mark.slow
def test_a_failure_moves_the_job_that_stood_there_and_no_other() -> None:
    c = controller("lightpath", {"downtime_s": 5})
    c.submit_all([request("a", 8), request("b", 4), request("c", 16)])
    before = {name: place.device_names for name, place in c.running.items()}
    part = before["b"][1]
    decisions = c.fail(part)
    assert [decision.job for decision in decisions if not isinstance(decision, Wait)] == ["b"]
    assert part not in c.running["b"].device_names
    assert c.running["a"].device_names == before["a"]
    assert c.check() == []


def test_a_job_without_another_place_waits_and_comes_back() -> None:
    c = controller("fat_tree")
    c.submit(request("all", 32))
    stop, wait = [d for d in c.fail("s1.g3") if isinstance(d, Stop | Wait)]
    assert isinstance(stop, Stop)
    assert (stop.why, stop.waits) == ("failed", True)
    assert isinstance(wait, Wait)
    assert wait.tag == "health"
    assert "only 31 work" in wait.because
    assert started(c.repair("s1.g3")) == ["all"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: c.cancel("nobody"), "no job 'nobody' waits or runs"),
        (lambda c: c.finish("waits"), "has not started; cancel it"),
        (lambda c: c.fail("s9.t1"), "servers are s0 to s3"),
        (lambda c: c.fail("nonsense"), "give s0.t1"),
        (lambda c: c.repair("s0.t1"), "has neither failed nor been drained"),
        (lambda c: c.drain("s12"), "servers are s0 to s3"),
        (lambda c: c.submit(request("runs", 8, priority=1)), "already with other content"),
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


def test_who_starts_late_still_goes_elsewhere_for_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, one job after the other: three have just started when the fourth needs what two of them were given."""
    monkeypatch.setattr(scheduling_cycle, "start_batch", lambda floor, names, deadline_s: (False, frozenset()))
    c, world = controller("fat_tree", {"downtime_s": 1}), World()
    for name, size in (("full", 8), ("four", 4), ("one", 1), ("six", 6)):
        assert world.carry_out(c.submit(request(name, size, movable=False)), set()) == []
    batch = [request("a", 1), request("b", 2), request("c", 2), request("whole", 8, constraints={"one_server": True})]
    decisions = c.submit_all(batch, at_s=5)
    assert c.counts.moves == 2
    assert world.carry_out(decisions, set()) == []
    assert sorted(started(decisions)) == ["a", "b", "c", "whole"]
    assert {job["pause_s"] for job in c.state()["jobs"]} == {0.0}


@pytest.mark.slow
def test_preemption_takes_one_node_not_one_accelerator_of_each() -> None:
    """A tenant's eight single jobs lie on eight servers beside others: stopping them would free no server."""
    c = controller("lightpath", {"moves": False}, servers=9)
    for server in range(8):
        c.submit(request(f"stays{server}", 4, preemptible=False))
        c.submit(request(f"fills{server}", 2, preemptible=False))
        c.submit(request(f"fills{server}+", 1, preemptible=False))
        c.submit(request(f"single{server}", 1))
    c.submit_all([request("left", 4), request("right", 4)])
    decisions = c.submit(request("urgent", 8, priority=1, constraints={"one_server": True}))
    assert {d.job for d in decisions if isinstance(d, Stop)} == {"left", "right"}
    assert servers_of(c.running["urgent"].device_names) == ["s8"]
    assert c.check() == []


def test_a_whole_server_fails_and_comes_back() -> None:
    """All of its accelerators are down under one name; those that failed before it stay down after it."""
    c = controller("lightpath", {"downtime_s": 5})
    c.submit_all([request("a", 8), request("b", 8), request("c", 4)])
    c.fail("s0.t3")
    decisions = c.fail("s0")
    assert all("s0" not in servers_of(place.device_names) for place in c.running.values())
    assert not [d for d in decisions if isinstance(d, Stop)]
    assert c.num_free == 24 - 20
    assert c.down == ("s0.t3", "s0")
    assert c.fail("s0") == ()
    assert c.check() == []
    wait = c.submit(request("large", 32))[-1]
    assert isinstance(wait, Wait)
    assert "only 24 work" in wait.because
    c.cancel("large")
    c.repair("s0")
    assert c.down == ("s0.t3",)
    assert c.num_free == 31 - 20
    c.drain("s0")
    c.fail("s0")
    c.undrain("s0")
    assert c.down == ("s0.t3", "s0")
    with pytest.raises(InputError, match="has not been drained"):
        c.undrain("s0")


def test_a_failure_leaves_a_tenant_within_its_ports() -> None:
    """A job inside a server holds no ports of the rails: its new place over two servers would hold eight."""
    c = controller("ocs_rail", {"quotas": {"t": {"ports": 4}}, "moves": False, "preempts": False})
    c.submit(request("job", [4, 8], tenant="t"))
    before = c.running["job"]
    assert (len(before.devices), before.num_ports) == (8, 0)
    c.submit_all([request(f"o{i}", 4, constraints={"one_server": True}) for i in range(6)])
    c.fail(before.device_names[0])
    after = c.running.get("job")
    assert after is None or after.num_ports <= 4
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
