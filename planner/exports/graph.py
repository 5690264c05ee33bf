"""The circuits of a plan as a directed graph of devices, for drawing and for network tools."""

import networkx as nx

from planner.exports.groups import GroupRun


def circuit_graph(run: GroupRun) -> "nx.MultiDiGraph[str]":
    """One edge for each circuit of each configuration, with its wavelengths and fibers as text."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(job=run.job, dimension=run.dimension, plan=run.plan.name)
    for number, group in enumerate(run.groups):
        for rank, device in enumerate(group):
            graph.add_node(device, rank=rank, group=number, server=device.rpartition(".")[0])
    for configuration, held in enumerate(run.held):
        for circuit in held.circuits:
            graph.add_edge(
                circuit.source,
                circuit.destination,
                configuration=configuration,
                num_wavelengths=len(circuit.wavelengths),
                wavelengths=" ".join(map(str, circuit.wavelengths)),
                fibers=" ".join(circuit.fibers),
            )
    return graph


def graphml_text(run: GroupRun) -> str:
    """The graph in GraphML."""
    return "\n".join(nx.generate_graphml(circuit_graph(run), named_key_ids=True)) + "\n"
