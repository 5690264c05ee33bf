"""The circuits of a plan as a directed graph of devices, for drawing and for network tools."""

import networkx as nx

from planner.integrations.exports.held import Held


def circuit_graph(each: Held) -> "nx.MultiDiGraph[str]":
    """One edge for each circuit of each configuration, with its wavelengths and fibers as text; to memory, one from
    the device to the port, which carries light both ways."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(job=each.job, dimension=each.dimension, plan=each.plan)
    for number, group in enumerate(each.groups):
        for rank, device in enumerate(group):
            graph.add_node(device, rank=rank, group=number, server=device.rpartition(".")[0])
    for configuration, held in enumerate(each.held):
        for circuit in held.circuits:
            graph.add_edge(
                circuit.source,
                circuit.destination,
                configuration=configuration,
                num_wavelengths=len(circuit.wavelengths),
                wavelengths=" ".join(map(str, circuit.wavelengths)),
                fibers=" ".join(circuit.fibers),
            )
    for memory in each.memory:
        graph.add_edge(memory.device, memory.port, rail=memory.rail, units=" ".join(memory.units))
    for between in each.upper:
        wavelengths = " ".join(map(str, between.wavelengths))
        graph.add_edge(between.source, between.destination, over=between.over, wavelengths=wavelengths)
    return graph


def graphml_text(each: Held) -> str:
    """The graph in GraphML; XML has no control characters: a name has ? for each."""
    graph = circuit_graph(each)
    graph.graph["job"] = "".join(c if c.isprintable() else "?" for c in each.job)
    return "\n".join(nx.generate_graphml(graph, named_key_ids=True)) + "\n"
