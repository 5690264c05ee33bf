"""Parts fail, come back, or are drained."""

import pytest

from planner.controller import Move, Stop, Wait
from planner.model.errors import InputError
from tests.planner.controller.sites import controller, request, started
from tests.planner.controller.stories import servers_of
from tests.planner.simulate.grounds import FABRICS


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


@pytest.mark.slow
def test_jobs_on_boards_come_back_with_light_of_another_board() -> None:
    boards = {"sides": [2, 2, 1], "wavelengths_per_fiber": 2}
    with controller("torus", {"downtime_s": 5}, boards=boards) as c:
        c.submit_all([request("a", 8), request("b", 4), request("c", 2), request("d", 2)])
        wide = [name for name, place in c.running.items() if any(place.configuration.data_collective.wavelengths)]
        assert wide
        for name in wide:
            part = c.running[name].device_names[1]
            assert name in {decision.job for decision in c.fail(part) if isinstance(decision, Move)}
            assert part not in c.running[name].device_names
        assert c.check() == []


@pytest.mark.parametrize("is_drained", [True, False])
def test_who_flees_goes_beside_what_is_kept_for_the_first_job(is_drained: bool) -> None:
    """Two servers have room for it, one of them is kept."""
    one, c = {"one_server": True}, controller("fat_tree", {"moves": False})
    for name, size, limit_s in (
        ("a", 4, 100.0),
        ("gone", 4, 100.0),
        ("b", 4, 1e4),
        ("gone2", 4, 1e4),
        ("full", 8, 1e5),
    ):
        c.submit(request(name, size, duration_s=limit_s, movable=False, constraints=one), at_s=0)
    c.submit(request("flees", 4, duration_s=1e4, constraints=one), at_s=0)
    c.submit(request("stays", 4, duration_s=1e4, movable=False, constraints=one), at_s=0)
    for name in ("gone", "gone2"):
        c.finish(name, at_s=1)
    c.submit(request("first", 8, constraints=one), at_s=2)
    c.drain("s3", at_s=50) if is_drained else c.fail(c.running["flees"].device_names[0], at_s=50)
    assert c.running["flees"].servers == c.running["b"].servers
    assert started(c.finish("a", at_s=100)) == ["first"]


def test_a_job_of_several_sizes_leaves_a_drained_server_as_large_as_it_is_or_stays() -> None:
    """Beside it two are free; a part that fails lets it go on with these."""
    c = controller("fat_tree", servers=2)
    c.submit(request("j", [2, 8], constraints={"one_server": True}))
    c.submit(request("beside", 6, constraints={"one_server": True}, movable=False))
    (home,) = c.running["j"].servers
    assert len(c.running["j"].devices) == 8
    c.drain(f"s{home}")
    assert (len(c.running["j"].devices), c.running["j"].servers) == (8, (home,))
    c.fail(c.running["j"].device_names[0])
    assert (len(c.running["j"].devices), c.running["j"].servers) == (2, (1 - home,))


def test_a_part_that_the_cluster_can_be_nothing_without_is_told_and_changes_nothing() -> None:
    c = controller("memory_ring")
    assert started(c.submit(request("a", 4))) == ["a"]
    before = c.seq
    with pytest.raises(InputError, match=r"s0\.n1: .*let the accelerators beside such a node fail"):
        c.fail("s0.n1")
    assert (c.seq, c.down, c.check()) == (before, (), [])
    assert started(c.submit(request("b", 1))) == ["b"]
