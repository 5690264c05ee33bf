"""Crossovers by message size as a table for the file-based tuner plugin of NCCL.

Columns of the plugin: collective_type, min_bytes, max_bytes, algorithm, protocol, channels, nNodes, nRanks, numPipeOps,
regBuff; a line that starts with # is a comment, -1 leaves a choice to NCCL. NCCL has no mixed radix: what is nearest
stands in its place, and the plan is named in the comment above.
"""

from math import ceil

from costmodel.plans.crossovers import crossovers
from costmodel.plans.ladder import Collective
from costmodel.plans.limits import Limits
from costmodel.plans.plan import Plan
from planner.exports.groups import GroupRun

COLLECTIVES: dict[Collective, str] = {
    "all_reduce": "allreduce",
    "reduce_scatter": "reducescatter",
    "all_gather": "allgather",
    "broadcast": "broadcast",
}
LOW_BYTES, HIGH_BYTES = 1, 2**40


def tuner_text(run: GroupRun) -> str:
    """Table of all collectives that NCCL tunes, for groups of this size on this fabric."""
    servers = max(len({device.rpartition(".")[0] for device in group}) for group in run.groups)
    lines = ["# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff"]
    for collective in COLLECTIVES:
        lines += tuner_lines(collective, run.plan.ranks, run.plan.limits, servers)
    return "\n".join(lines) + "\n"


def tuner_lines(collective: Collective, ranks: int, limits: Limits, servers: int = -1) -> list[str]:
    """A comment and a line for each piece, sizes inclusive."""
    pieces = crossovers(collective, ranks, limits, LOW_BYTES, HIGH_BYTES)
    first = [ceil(start) for start, _ in pieces]
    last = [*(start - 1 for start in first[1:]), HIGH_BYTES]
    lines = []
    for low, high, (_, plan) in zip(first, last, pieces, strict=True):
        if low > high:
            continue
        lines.append(f"# {plan.name}: {plan.time_s(low) * 1e6:.3g} to {plan.time_s(high) * 1e6:.3g} us")
        fields = (COLLECTIVES[collective], low, high, nearest(plan), "simple", -1, servers, ranks, -1, -1)
        lines.append(",".join(map(str, fields)))
    return lines


def nearest(plan: Plan) -> str:
    """Algorithm of NCCL that is most like a plan: rounds in the logarithm of the ranks, or in their number."""
    if plan.kind == "ring" or plan.collective == "broadcast":
        return "ring"
    return "tree" if plan.collective == "all_reduce" else "pat"
