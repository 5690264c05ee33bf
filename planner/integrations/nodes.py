"""Nodes of a scheduler as servers of a cluster: each server is one node."""

from collections.abc import Mapping

from planner.integrations.hostlist import hosts_of
from planner.model.cluster import Cluster
from planner.model.errors import InputError


def server_of_node(nodes: Mapping[str, str] | str, cluster: Cluster, where: str) -> dict[str, str]:
    """Server by node, from such a table, or from a host list: s0, s1, ... in this order. InputError, about the file
    `where`, where a server is no node, or two."""
    fabric = cluster.fabric
    servers = [fabric.server_name(number) for number in range(fabric.num_servers)]
    found = _in_order(nodes, servers, where) if isinstance(nodes, str) else dict(nodes)
    node_of = dict[str, str]()
    for node, server in found.items():
        if server not in servers:
            problem = f"there is no server '{server}'; servers are {servers[0]} to {servers[-1]}"
            raise InputError(where, f"nodes.{node}", problem)
        if server in node_of:
            raise InputError(where, f"nodes.{node}", f"is server {server}, as {node_of[server]} is; give it another")
        node_of[server] = node
    for server in servers:
        if server not in node_of:
            raise InputError(where, "nodes", f"none is server {server}; name its node, or take a smaller cluster")
    return found


def _in_order(nodes: str, servers: list[str], where: str) -> dict[str, str]:
    try:
        names = hosts_of(nodes)
    except ValueError as error:
        raise InputError(where, "nodes", str(error)) from None
    if len(set(names)) != len(servers) or len(names) != len(servers):
        raise InputError(where, "nodes", f"are {len(set(names))} for {len(servers)} servers; name as many, each once")
    return dict(zip(names, servers, strict=True))
