"""What one would have to change so that a job could run."""

import pytest

from tests.planner.explain.remedies_cases import FAT_TREE
from tests.planner.small_racks import ONE_SERVER, ask, is_possible, rack, serving, single, texts, training


def test_too_little_memory() -> None:
    data = rack(serving("x", 1, model="llama-3.1-70b"))
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    assert explanation.headline == "x cannot run even with the whole cluster to itself"
    assert texts(explanation) == [
        "with 1 accelerator: each accelerator would hold 159.2 GB, 73.3 GB more than it has",
        "fits with 2, 4, 6 or 8 accelerators",
    ]
    possible = [size for size in range(1, 9) if is_possible(data, "x", accelerators=size)]
    assert possible == [2, 4, 6, 8]


@pytest.mark.slow
def test_size_that_does_not_divide_or_exceeds_what_works() -> None:
    data = rack(training("x", [5, 8]), fibers=2, health={"failed_tiles": ["s0.t1"]})
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    assert texts(explanation) == [
        "with 5 accelerators: 5 is no product of degrees of parallelism that divide its 16 heads, 24 layers and 64 "
        "sequences; try a number with more divisors; possible with uneven_stages: true",
        "with 8 accelerators: needs 8 accelerators, 7 work",
        "fits if s0.t1 is repaired",
        "fits with 1, 2, 3 or 4 accelerators",
    ]
    assert is_possible(rack(training("x", [5, 8]), fibers=2), "x")
    assert not is_possible(rack(training("x", 5), fibers=2), "x")
    assert all(is_possible(data, "x", accelerators=size) for size in (1, 2, 3, 4))


def test_one_server_is_too_small() -> None:
    data = rack(serving("x", 8, constraints=ONE_SERVER))
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    assert "with 8 accelerators: must lie in one server, which has 4 accelerators" in texts(explanation)
    assert "fits on s0 and s1 if it may span servers" in texts(explanation)
    assert is_possible(data, "x", constraints={})


def test_collective_that_the_fabric_cannot_form() -> None:
    data = rack(training("x", 7, batch=56, constraints={"collective": "radix"}))
    data["cluster"]["fabric"] = FAT_TREE
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    said = texts(explanation)
    assert said[0] == "with 7 accelerators: no radix all-reduce joins 7 accelerators here"
    assert "fits with ring" in said
    assert is_possible(data, "x", constraints={"collective": "ring"})


def test_fat_tree() -> None:
    residents = [single("r0", "s0.g0", movable=False), single("r1", "s1.g0")]
    data = rack(serving("x", 4, constraints=ONE_SERVER), residents=residents, objectives=["moves", "value"])
    data["cluster"]["fabric"] = FAT_TREE
    said = texts(ask(data, "x"))
    assert said[0] == "with 4 accelerators: no server has 4 free; most is 3 on s0"
    assert "fits with 4 accelerators if r1 moves to s0" in said
