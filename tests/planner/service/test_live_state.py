"""What the live page is told: every accelerator, every job, every reason, as the controller has them."""

import json
import time
from unittest.mock import patch

import pytest

from planner.controller import Controller, Settings
from planner.controller.view import FRESH
from planner.model.health import Health
from planner.placement.placement import Place
from planner.service.live_state import live_state
from planner.whatif.failures import parse_failure
from tests.planner.controller.sites import chat, controller, request
from tests.planner.simulate.grounds import cluster


def _links(place: Place) -> dict[tuple[str, str], int]:
    """By the circuits' names: the most wavelengths of one configuration, by pair of servers."""
    most: dict[tuple[str, str], int] = {}
    for held in place.circuits:
        here: dict[tuple[str, str], int] = {}
        for circuit in held.circuits:
            pair = circuit.source.rpartition(".")[0], circuit.destination.rpartition(".")[0]
            here[pair] = here.get(pair, 0) + len(circuit.wavelengths)
        for pair, count in here.items():
            if pair[0] != pair[1]:
                most[pair] = max(most.get(pair, 0), count)
    return most


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["fat_tree", "lightpath", "torus", "ocs_rail"])
def test_every_accelerator_is_told_as_it_is(fabric: str) -> None:
    with controller(fabric) as c:
        c.submit_all([request(f"job{size}", size) for size in (16, 4, 8, 1)])
        c.fail(c.cluster.fabric.device_name(3, 7))
        c.drain("s3")
        told = json.loads(json.dumps(live_state(c)))
        names = told["server_names"]
        letter, per_server = told["fabric"]["device_letter"], told["fabric"]["devices_per_server"]
        devices = [f"{names[i // per_server]}.{letter}{i % per_server}" for i in range(len(told["owner"]))]
        owners = {
            device: told["jobs"][job]["name"] for device, job in zip(devices, told["owner"], strict=True) if job >= 0
        }
        assert owners == {name: job for job, place in c.running.items() for name in place.device_names}
        assert [devices[i] for i in told["failed"]] == [c.cluster.fabric.device_name(3, 7)] == told["down"]
        assert [names[i] for i in told["drained"]] == ["s3"]
        assert told["num_free"] == c.num_free
        for job in told["jobs"]:
            place = c.running[job["name"]]
            assert {(names[a], names[b]): count for a, b, count in job["links"]} == _links(place)
            assert job["circuits"] == sum(len(held.circuits) for held in place.circuits)
            assert job["size"] == len(place.devices)


def test_the_queue_says_why_in_its_order() -> None:
    quotas = {"quotas": {"poor": {"accelerators": 1}}, "moves": False, "preempts": False}
    with controller("fat_tree", quotas) as c:
        c.submit(request("busy", 16, duration_s=600), at_s=10.0)
        c.submit_all([request("large", [24, 32], priority=3), request("other", 24), request("next", 24)], at_s=20.0)
        c.submit_all([request(f"p{i}", 1, tenant="poor") for i in range(2)], at_s=30.0)
        told = live_state(c)
        waiting = told["waiting"]
        assert [job["name"] for job in waiting] == list(c.waiting)
        for job in waiting:
            reason = c.job(job["name"]).waits_for
            assert reason is not None
            assert (job["tag"], job["because"]) == (reason.tag, reason.because)
        assert {job["name"]: (job["least"], job["most"]) for job in waiting}["large"] == (24, 32)
        assert told["reserved"]["job"] == "large"
        assert told["num_waiting"] == len(c.waiting)


def test_of_many_that_wait_the_first_are_told() -> None:
    sizes = (2, 4, 8, 16, 32)
    with controller("fat_tree", {"moves": False, "preempts": False}) as c:
        c.submit(request("all", 32))
        with c.group():
            for number in range(250):
                c.submit(request(f"j{number}", sizes[number % len(sizes)], tenant=f"t{number % 7}"))
        told = live_state(c)
        assert told["num_waiting"] == 250
        assert [job["name"] for job in told["waiting"]] == list(c.waiting)[:200]
        assert len({(job["tenant"], job["least"]) for job in told["waiting"]}) > FRESH
        assert all(job["because"] for job in told["waiting"])


def test_it_is_made_anew_after_events_alone() -> None:
    with controller("lightpath") as c:
        c.submit(request("a", 16))
        first = live_state(c)
        with patch.object(Controller, "view", side_effect=AssertionError):
            assert {**live_state(c), "at_s": 0} == {**first, "at_s": 0}
        c.finish("a")
        assert live_state(c)["jobs"] == []
        c.submit(request("a", 8))
        assert [job["size"] for job in live_state(c)["jobs"]] == [8]


def test_a_job_that_moved_is_told_anew() -> None:
    with controller("lightpath") as c:
        c.submit(request("a", 8))
        before = live_state(c)
        c.fail(c.running["a"].device_names[0])
        after = live_state(c)
        assert before["owner"] != after["owner"]
        assert after["jobs"][0]["started_s"] == before["jobs"][0]["started_s"]


def test_parts_that_the_file_says_are_down_are_told() -> None:
    health = {
        "failed_tiles": ["s0.t0"], "failed_ports": ["s1.t1"], "failed_fibers": [{"from": "s0", "to": "s1", "index": 0}],
        "failed_lasers": [{"tile": "s2.t0", "wavelength": 1}], "failed_receivers": [{"tile": "s2.t0", "wavelength": 2}],
    }  # fmt: skip
    broken = cluster("lightpath").model_copy(update={"health": Health.model_validate(health)})
    with Controller(broken) as c:
        c.fail("s3.t3")
        told = live_state(c)
        assert told["down"] == ["s0.t0", "s1.t1:port", "s0>s1#0", "s2.t0:w1", "s2.t0:rx:w2", "s3.t3"]
        for name in told["down"]:
            parse_failure(c.cluster, name)
        assert told["failed"] == [0, 27]
        assert told["dark"] == [9]


@pytest.mark.slow
def test_it_is_quick_on_4096_accelerators() -> None:
    settings = Settings(greedy_budget_s=10, repair_budget_s=0)
    with Controller(cluster("fat_tree", servers=512), settings=settings) as c:
        with c.group():
            for number in range(600):
                c.submit(chat(f"j{number}", 8, tenant=f"t{number % 5}"))
        took_s = []
        for number in range(5):
            c.finish(f"j{number}")
            began_s = time.process_time()
            live_state(c)
            took_s.append(time.process_time() - began_s)
        assert sorted(took_s)[2] < 0.1, "it takes about 5 ms"
