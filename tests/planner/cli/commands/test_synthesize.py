"""planner synthesize: what it prints and writes, and what it refuses."""

from pathlib import Path
from random import Random

import pytest

from tests.oracles import msccl
from tests.paths import ROOT
from tests.planner.cli.conftest import Planner

A100 = ROOT / "instances" / "topologies" / "a100.yaml"


@pytest.mark.slow
def test_it_says_what_it_found_and_what_bounds_it(planner: Planner) -> None:
    ran = planner("synthesize", A100, "--size", "1 MB", "--time-limit", "0.3")
    assert ran.code == 0
    assert "a100   8 ranks   16 links   all-gather of 1.00 MB" in ran.out
    assert "bound 3.62 us: what comes from far to rank 0" in ran.out
    assert "best family" in ran.out
    assert "checked: 0 faults" in ran.out


@pytest.mark.slow
@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce", "all-to-all", "broadcast"])
def test_its_algorithm_for_msccl_is_right(planner: Planner, tmp_path: Path, collective: str) -> None:
    """Run by an interpreter of the format, with several chunks for each rank."""
    topology, out = tmp_path / "star.yaml", tmp_path / "a.xml"
    topology.write_text(
        "schema_version: 1\nname: star\nranks: 3\nswitches: [s]\nalpha: 1 ps\n"
        "links: [{from: [0, 1, 2], to: s, bandwidth: 1 GB/s}]\n",
        encoding="utf-8",
    )
    options = ("--size", "12 B", "--time-limit", "0.2", "--msccl", out, "--json")
    found = planner("synthesize", topology, "--collective", collective, *options).document
    random, ranks, parts = Random(0), 3, found["parts"]
    count = {"all-gather": parts, "broadcast": round(12 / found["chunk_bytes"])}.get(collective, ranks * parts)
    inputs = [[random.randrange(10**9) for _ in range(count)] for _ in range(ranks)]
    sums = [sum(each) for each in zip(*inputs, strict=True)]
    for rank, buffers in enumerate(msccl.run(out.read_text("utf-8"), inputs)):
        own = slice(rank * parts, (rank + 1) * parts)
        expected = {
            "all-gather": [value for each in inputs for value in each],
            "broadcast": inputs[0],
            "all-reduce": sums,
            "reduce-scatter": sums[own],
            "all-to-all": [value for each in inputs for value in each[own]],
        }
        assert buffers["o"] == expected[collective]


def test_json_has_every_transfer(planner: Planner) -> None:
    found = planner("synthesize", A100, "--size", "8 MB", "--time-limit", "0.1", "--json").document
    assert found["bound_s"] <= found["time_s"] <= found["family"]["time_s"]
    assert len(found["transfers"]) == 7 * 8 * found["parts"]
    assert found["transfers"][0]["nodes"][1] == "nvswitch"
    assert max(each["arrival_s"] for each in found["transfers"]) == pytest.approx(found["time_s"])


def test_a_family_that_wins_is_told_in_rounds(planner: Planner) -> None:
    """Of a few bytes: one round of whole messages to all."""
    options = ("--collective", "all-reduce", "--size", "8 B", "--time-limit", "0.1", "--json")
    found = planner("synthesize", A100, *options).document
    assert found["source"] == "family exchange 8"
    assert [len(each) for each in found["rounds"]] == [56]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--size", "1 m"), "--size: '1 m': unknown unit"),
        (("--size", "0.5 B"), "is less than a byte"),
        (("--msccl", A100), "is not an algorithm of MSCCL"),
    ],
)
def test_bad_options_are_named(planner: Planner, options: tuple[object, ...], problem: str) -> None:
    ran = planner("synthesize", A100, "--time-limit", "0.1", *options)
    assert ran.code == 2
    assert problem in ran.err


def test_bad_files_are_named(planner: Planner, tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("schema_version: 1\nname: two\nranks: 2\nlinks: []\n", encoding="utf-8")
    ran = planner("synthesize", path)
    assert ran.code == 2
    assert "two.yaml: links: no way leads from rank 0 to rank 1; add a link" in ran.err
