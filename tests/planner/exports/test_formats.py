"""Circuits, graphs and tuning tables of plans."""

import io
import json

import networkx as nx
import pytest

from costmodel.plans.best import best
from planner.exports import FORMATS, export_files
from planner.exports.graph import circuit_graph, graphml_text
from planner.exports.nccl_tuner import tuner_lines
from planner.exports.sidecar import sidecar_text
from tests.costmodel.plans.cases import limits
from tests.planner.exports.test_groups import WITH_CIRCUITS, runs_of


@pytest.mark.parametrize("name", WITH_CIRCUITS)
def test_every_transfer_has_its_circuit(name: str) -> None:
    for run in runs_of(name):
        document = json.loads(sidecar_text(run))
        rounds = document["schedule"]["rounds"]
        assert sorted(index for each in document["configurations"] for index in each["rounds"]) == [*range(len(rounds))]
        for each in document["configurations"]:
            ends = {(circuit["from"], circuit["to"]) for circuit in each["circuits"]}
            for index in each["rounds"]:
                assert rounds[index]["configuration"] == each["id"]
                for sender, receiver, *_ in rounds[index]["transfers"]:
                    if sender != receiver:
                        assert all((group[sender], group[receiver]) in ends for group in document["groups"])
            for circuit in each["circuits"]:
                assert circuit["path"][0] == circuit["from"]
                assert circuit["path"][-1] == circuit["to"]
                servers = {end.split(".")[0] for end in (circuit["from"], circuit["to"])}
                assert len(circuit["path"]) == 1 + len(servers)


@pytest.mark.parametrize("name", WITH_CIRCUITS)
def test_graphs_hold_every_circuit(name: str) -> None:
    for run in runs_of(name):
        graph = circuit_graph(run)
        assert graph.number_of_edges() == sum(len(held.circuits) for held in run.held)
        assert set(graph) == {device for group in run.groups for device in group}
        read = nx.read_graphml(io.BytesIO(graphml_text(run).encode()), force_multigraph=True)
        assert sorted(map(str, read.edges(data="wavelengths"))) == sorted(map(str, graph.edges(data="wavelengths")))
        assert read.graph["job"] == run.job


@pytest.mark.parametrize("ranks", [8, 12])
def test_tables_are_complete_and_right(ranks: int) -> None:
    lines = tuner_lines("all_reduce", ranks, limits(3), servers=2)
    assert len(lines) > 4
    expected_low = 1
    for comment, line in zip(lines[::2], lines[1::2], strict=True):
        kind, low, high, algorithm, protocol, channels, nodes, size, *rest = line.split(",")
        assert (kind, protocol, channels, nodes, size, rest) == (
            "allreduce",
            "simple",
            "-1",
            "2",
            str(ranks),
            ["-1"] * 2,
        )
        assert int(low) == expected_low
        expected_low = int(high) + 1
        middle = (int(low) * int(high)) ** 0.5
        plan = best("all_reduce", ranks, middle, limits(3)).plan
        assert comment.split()[1] == plan.name.split()[0], "of equal plans any may be named"
        assert algorithm == ("ring" if plan.kind == "ring" else "tree")
    assert expected_low == 2**40 + 1


@pytest.mark.parametrize("name", WITH_CIRCUITS)
@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_every_format_writes_files_of_different_names(name: str, format_name: str) -> None:
    files = list(export_files(format_name, runs_of(name), 1000))
    assert len({file for file, _ in files}) == len(files) > 0
    assert all(content for _, content in files)
