"""Circuits, graphs and tuning tables of plans."""

import io
import json
from collections import Counter
from typing import Any

import networkx as nx
import pytest

from costmodel.collectives.best import best
from planner.integrations.exports import FORMATS, Source, export_files, warnings_of
from planner.integrations.exports.graph import circuit_graph, graphml_text
from planner.integrations.exports.held import Held
from planner.integrations.exports.nccl_tuner import tuner_lines
from planner.integrations.exports.sidecar import sidecar_text
from planner.pipeline import solve
from tests.costmodel.collectives.cases import limits
from tests.oracles.tiny_layouts import tiny_layout
from tests.planner.checks import good
from tests.planner.integrations.exports.test_groups import WITH_CIRCUITS


def source_of(name: str) -> Source:
    return Source(*good.GOOD[name](), "plan.json", 1000)


def reduces_of(name: str) -> tuple[Held, ...]:
    """What all-reduces of a plan hold."""
    return tuple(map(Held.of_run, source_of(name).runs))


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_CIRCUITS)
def test_every_transfer_has_its_circuit(name: str) -> None:
    fabric = source_of(name).fabric
    for held in reduces_of(name):
        document = json.loads(sidecar_text(held, fabric))
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
    for each in source_of(name).held:
        graph = circuit_graph(each)
        assert graph.number_of_edges() == sum(len(held.circuits) for held in each.held)
        assert set(graph) == {device for group in each.groups for device in group}
        read = nx.read_graphml(io.BytesIO(graphml_text(each).encode()), force_multigraph=True)
        assert sorted(map(str, read.edges(data="wavelengths"))) == sorted(map(str, graph.edges(data="wavelengths")))
        assert read.graph["job"] == each.job


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ocs_rail", "lightpath", "torus", "sipam"])
def test_no_circuit_of_a_plan_is_left_out(kind: str) -> None:
    """Of pipelines, whole slices and memory too; what is written is what the plan holds."""
    dimensions = set()
    for seed in range(4):
        problem = tiny_layout(kind, seed)
        plan = solve(problem, policy="cpsat" if kind == "torus" else "first_fit", time_limit_s=5, workers=1).plan
        assert plan is not None
        if not any(assignment.circuits or assignment.memory for assignment in plan.assignments):
            continue
        source = Source(problem.instance, plan, "plan.json")
        documents = [json.loads(content) for _, content in export_files("circuits", source)]
        written = Counter(
            (each["job"], each["dimension"], circuit["from"], circuit["to"], *circuit["wavelengths"])
            for each in documents
            for configuration in each.get("configurations", ())
            for circuit in configuration["circuits"]
        )
        assert written == Counter(
            (assignment.job, held.dimension, circuit.source, circuit.destination, *circuit.wavelengths)
            for assignment in plan.assignments
            for held in assignment.circuits
            for circuit in held.circuits
        )
        memory = [(m["device"], m["port"], *m["units"]) for each in documents for m in each.get("memory", ())]
        assert memory == [(m.device, m.port, *m.units) for a in plan.assignments for m in a.memory]
        edges = sum(circuit_graph(each).number_of_edges() for each in source.held)
        assert edges == written.total() + len(memory)
        dimensions |= {each["dimension"] for each in documents}
    assert {"ocs_rail": "pipeline", "lightpath": "data", "torus": "slice", "sipam": "memory"}[kind] in dimensions


def test_circuits_of_a_pipeline_are_written() -> None:
    (line,) = (json.loads(content) for _, content in export_files("circuits", source_of("line")))
    assert (line["job"], line["dimension"], line["plan"]) == ("line", "pipeline", "line w2")
    assert line["groups"] == [["s0.t0", "s0.t1", "s0.t2", "s1.t2"]]
    assert len(line["configurations"][0]["circuits"]) == 6
    assert "schedule" not in line


def _tuned(lines: list[str], message_bytes: int) -> tuple[str, str, int] | None:
    """What the plugin makes of a call: algorithm, protocol and channels; None where NCCL's model decides."""
    for line in lines:
        if not line.startswith("#"):
            _, low, high, algorithm, protocol, channels, *_ = line.split(",")
            if int(low) <= message_bytes <= int(high):
                return algorithm, protocol, 1 if channels == "-1" else int(channels)
    return None


@pytest.mark.parametrize("ranks", [8, 12])
def test_tables_are_right_from_the_first_size_that_they_name(ranks: int) -> None:
    lines = tuner_lines("all_reduce", ranks, limits(3), servers=2)
    rows = [line.split(",") for line in lines if not line.startswith("#")]
    comments = [line for line in lines if line.startswith("#")]
    assert len(rows) > 1
    assert comments[0] == f"# allreduce below {rows[0][1]} bytes: left to NCCL"
    assert {(row[0], row[6], row[7], *row[8:]) for row in rows} == {("allreduce", "2", str(ranks), "-1", "-1")}
    assert [int(row[1]) for row in rows[1:]] == [int(row[2]) + 1 for row in rows[:-1]]
    assert int(rows[-1][2]) == 2**40
    for comment, (_, low, high, algorithm, *_) in zip(comments[1:], rows, strict=True):
        plan = best("all_reduce", ranks, (int(low) * int(high)) ** 0.5, limits(3)).plan
        assert comment.split()[1] == plan.name.split()[0], "of equal plans any may be named"
        assert algorithm == ("ring" if plan.kind == "ring" else "tree")


def test_small_messages_are_left_to_nccl_and_large_ones_have_channels() -> None:
    """16 wavelengths of 18.75 GB/s need as many channels; a call of a few kilobytes has any protocol."""
    lines = tuner_lines("all_reduce", 8, limits(3))
    assert _tuned(lines, 8) is _tuned(lines, 64 * 1024) is None
    for size in (2**24, 2**30):
        found = _tuned(lines, size)
        assert found is not None
        assert found[1:] == ("simple", 16)


@pytest.mark.slow
def test_long_algorithms_are_warned_of() -> None:
    from costmodel.collectives.build import schedule_of
    from planner.integrations.exports.msccl_xml import Algorithm, msccl_xml
    from tests.costmodel.collectives.cases import best_of

    def texts(*ranks: int) -> list[tuple[str, Any]]:
        return [
            (f"{n}.xml", msccl_xml(Algorithm("a", schedule_of(best_of("ring", "all_reduce", n, 1e6))))) for n in ranks
        ]

    (warning,) = warnings_of([*texts(33, 34), ("a.circuits.json", "{}")])
    assert warning.startswith(
        "34.xml: a threadblock has 66 steps; the MSCCL executor as it is built by default takes 64"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_CIRCUITS)
@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_every_format_writes_files_of_different_names(name: str, format_name: str) -> None:
    files = list(export_files(format_name, source_of(name)))
    assert len({file for file, _ in files}) == len(files) > 0
    assert all(content for _, content in files)
