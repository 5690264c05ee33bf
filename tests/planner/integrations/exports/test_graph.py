"""Circuits of a plan as a graph."""

import io
import json
from collections import Counter
from dataclasses import replace

import networkx as nx
import pytest

from planner.integrations.exports import Source, export_files
from planner.integrations.exports.graph import circuit_graph, graphml_text
from planner.pipeline import solve
from tests.oracles.tiny_layouts import tiny_layout
from tests.planner.integrations.exports.exported import source_of
from tests.planner.integrations.exports.groups_cases import WITH_CIRCUITS


@pytest.mark.parametrize("name", WITH_CIRCUITS)
def test_graphs_hold_every_circuit(name: str) -> None:
    for each in source_of(name).held:
        graph = circuit_graph(each)
        assert graph.number_of_edges() == sum(len(held.circuits) for held in each.held)
        assert set(graph) == {device for group in each.groups for device in group}
        read = nx.read_graphml(io.BytesIO(graphml_text(each).encode()), force_multigraph=True)
        assert sorted(map(str, read.edges(data="wavelengths"))) == sorted(map(str, graph.edges(data="wavelengths")))
        assert read.graph["job"] == each.job


def test_control_characters_of_a_name_leave_the_file_readable() -> None:
    each = replace(source_of(WITH_CIRCUITS[0]).held[0], job="a\x01b <c>")
    assert nx.read_graphml(io.BytesIO(graphml_text(each).encode())).graph["job"] == "a?b <c>"


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
