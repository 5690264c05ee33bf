"""Groups whose messages go as packets over electrical switches: no circuits to plan."""

from costmodel.collectives import closed_forms
from costmodel.fabrics.group_plans import LinkPlan, transfer_radices


def all_reduces(
    ranks: int, alpha_s: float, bytes_per_s: float, node_bytes_per_s: float = 0.0, per_server: int = 1
) -> tuple[LinkPlan, ...]:
    """A ring, and a double binary tree where its latency is less. The rate is of one rank, one direction.

    `node_bytes_per_s` is that of a group whose ranks share the switch of a server. Of `per_server` ranks that share one
    all but one send to another of them: a ring, and each tree, enters and leaves a server once.
    """
    sent = 2 * (ranks - 1) / ranks
    node, near = node_bytes_per_s, (per_server - 1) / per_server
    ring = LinkPlan(
        "ring", ranks, 2 * (ranks - 1) * alpha_s, sent / bytes_per_s, sent, node_bytes_per_s=node, near_share=near
    )
    tree_latency_s = float(closed_forms.double_tree_all_reduce_s(0.0, ranks, alpha_s, bytes_per_s))
    if tree_latency_s >= ring.latency_s:
        return (ring,)
    near = _inside(ranks, per_server)
    tree = LinkPlan("tree", ranks, tree_latency_s, 2 / bytes_per_s, 2.0, node_bytes_per_s=node, near_share=near)
    return ring, tree


def forward(ranks: int, alpha_s: float, bytes_per_s: float, per_server: int = 1) -> LinkPlan:
    """From each pipeline stage to the next."""
    return LinkPlan("switched", ranks, alpha_s, 1 / bytes_per_s, 1.0, near_share=_inside(ranks, per_server))


def _inside(ranks: int, per_server: int) -> float:
    """Share of the links of a tree or line of ranks that lie in servers, so many ranks in each."""
    return (ranks - ranks / per_server) / (ranks - 1)


def transfer(prefill: int, decode: int, alpha_s: float, bytes_per_s: float, each: tuple[int, int]) -> LinkPlan:
    """From each of some replicas to one of the others at a time; `each` says how many ranks a replica has here."""
    ranks, radices = prefill * each[0] + decode * each[1], transfer_radices(prefill, decode, each)
    return LinkPlan("transfer", ranks, alpha_s, max(each) / bytes_per_s, 1.0, radices=radices)


def all_to_all(ranks: int, alpha_s: float, seconds_per_byte: float, per_server: int = 1) -> LinkPlan:
    """Each rank sends an equal share to every other."""
    near = (per_server - 1) / (ranks - 1)
    return LinkPlan("switched", ranks, alpha_s, seconds_per_byte, (ranks - 1) / ranks, near_share=near)
