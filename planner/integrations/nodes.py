"""Nodes of a scheduler as servers of a cluster: each server is one node, or as many as every other."""

from collections.abc import Mapping

from planner.integrations.hostlist import hosts_of
from planner.model.cluster import Cluster
from planner.model.errors import InputError


def server_of_node(nodes: Mapping[str, str] | str, cluster: Cluster, where: str) -> dict[str, str]:
    """Server by node, from such a table, or from a host list: s0, s1, ... in this order. InputError, about the file
    `where`, where a server is no node, or two."""
    found = _in_order(nodes, cluster.fabric.server_names, where) if isinstance(nodes, str) else dict(nodes)
    node_of = dict[str, str]()
    for node, server in found.items():
        _require_server(server, node, cluster, where)
        if server in node_of:
            raise InputError(where, f"nodes.{node}", f"is server {server}, as {node_of[server]} is; give it another")
        node_of[server] = node
    _require_all(node_of, cluster, where)
    return found


def server_of_nodes(nodes: Mapping[str, str] | str, cluster: Cluster, where: str) -> dict[str, str]:
    """As `server_of_node`; a table may also name several nodes for one server, in the order of their accelerators: by
    a host list, or one by one. InputError unless each server has as many, with equal shares of its accelerators."""
    if isinstance(nodes, str):
        return server_of_node(nodes, cluster, where)
    found, counts = dict[str, str](), dict[str, int]()
    for names, server in nodes.items():
        _require_server(server, names, cluster, where)
        for node in hosts_of(names):
            if node in found:
                raise InputError(where, f"nodes.{names}", f"{node} is given twice; give each node once")
            found[node] = server
            counts[server] = counts.get(server, 0) + 1
    _require_all(counts, cluster, where)
    fewest, most = min(counts, key=lambda server: counts[server]), max(counts, key=lambda server: counts[server])
    if counts[fewest] != counts[most]:
        problem = f"{counts[most]} are server {most} and {counts[fewest]} server {fewest}; give each server as many"
        raise InputError(where, "nodes", problem)
    devices = cluster.fabric.devices_per_server
    if devices % counts[most]:
        problem = f"{counts[most]} are server {most}, whose {devices} accelerators they cannot share equally"
        raise InputError(where, "nodes", f"{problem}; name as many nodes as divide them")
    return found


def _require_server(server: str, node: str, cluster: Cluster, where: str) -> None:
    servers = cluster.fabric.server_names
    if server not in servers:
        problem = f"there is no server '{server}'; servers are {servers[0]} to {servers[-1]}"
        raise InputError(where, f"nodes.{node}", problem)


def _require_all(named: Mapping[str, object], cluster: Cluster, where: str) -> None:
    for server in cluster.fabric.server_names:
        if server not in named:
            raise InputError(where, "nodes", f"none is server {server}; name its node, or take a smaller cluster")


def _in_order(nodes: str, servers: tuple[str, ...], where: str) -> dict[str, str]:
    try:
        names = hosts_of(nodes)
    except ValueError as error:
        raise InputError(where, "nodes", str(error)) from None
    if len(set(names)) != len(servers) or len(names) != len(servers):
        raise InputError(where, "nodes", f"are {len(set(names))} for {len(servers)} servers; name as many, each once")
    return dict(zip(names, servers, strict=True))
