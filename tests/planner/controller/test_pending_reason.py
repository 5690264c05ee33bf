"""Why a job waits although enough is free."""

from planner.controller import Wait
from tests.planner.controller.per_server_cases import even, given
from tests.planner.controller.sites import controller, request, started


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


def test_a_job_waits_for_as_many_on_each_server() -> None:
    c = controller("fat_tree", {"moves": False, "preempts": False})
    for server in range(4):
        c.submit(request(f"j{server}", 6, constraints={"one_server": True}))
    c.finish("j2")
    c.finish("j3")
    (wait,) = (d for d in c.submit(even("even", 3, 4)) if isinstance(d, Wait))
    assert wait.tag == "scattered"
    assert "it takes 4 on each of 3 servers, and 2 have as many free; s0 would have 8 free without j0" in wait.because
    assert started(c.finish("j0")) == ["even"]
    assert given(c.running["even"].device_names) == {4}


def test_drained_servers_are_told_apart_from_failed_ones() -> None:
    """Two servers of four accelerators; a part of the first fails, too."""
    c = controller("fat_tree", {"moves": False}, servers=2, gpus_per_server=4)

    def why(name: str, accelerators: int) -> str:
        (*_, wait) = c.submit(request(name, accelerators))
        assert isinstance(wait, Wait)
        assert wait.tag == "health"
        return wait.because.partition("it waits ")[2]

    c.drain("s1")
    assert why("one", 8) == "until drained servers take jobs again (undrain s1)"
    c.fail("s0.g0")
    assert why("both", 8) == "for a repair and until drained servers take jobs again (undrain s1)"
    assert why("less", 7) == "until drained servers take jobs again (undrain s1)"
    c.drain("s0")
    assert why("all", 7) == "until drained servers take jobs again (undrain s0, s1)"
    c.undrain("s0")
    c.undrain("s1")
    assert why("none", 8) == "for a repair"
