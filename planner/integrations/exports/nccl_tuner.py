"""Crossovers by message size as a table for the file-based tuner plugin of NCCL.

Columns of the plugin: collective_type, min_bytes, max_bytes, algorithm, protocol, channels, nNodes, nRanks, numPipeOps,
regBuff; a line that starts with # is a comment. NCCL has no mixed radix: what is nearest stands in its place, and the
plan is named in the comment above. Channels are always written: the plugin (`ext-tuner/example` of NCCL) begins with
one, and -1 leaves that. Small sizes, whose bytes take less than the fixed time of any plan, have no line: NCCL's own
model chooses algorithm and protocol for them, LL and LL128 included. Larger ones take `simple`, whose bandwidth is
whole.
"""

from math import ceil

from costmodel.collectives.crossovers import crossovers
from costmodel.collectives.ladder import Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from planner.integrations.exports.groups import GroupRun

COLLECTIVES: dict[Collective, str] = {
    "all_reduce": "allreduce",
    "reduce_scatter": "reducescatter",
    "all_gather": "allgather",
    "broadcast": "broadcast",
}
LOW_BYTES, HIGH_BYTES = 1, 2**40
CHANNEL_BYTES_PER_S = 20e9
"""that one channel carries at least (`perChMaxRingLL128Bws` in `src/graph/tuning.cc` of NCCL)"""
MAX_CHANNELS = 32
"""that every version of NCCL has"""


def tuner_text(run: GroupRun) -> str:
    """Table of all collectives that NCCL tunes, for groups of this size on this fabric."""
    servers = max(len({device.rpartition(".")[0] for device in group}) for group in run.groups)
    lines = ["# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff"]
    for collective in COLLECTIVES:
        lines += tuner_lines(collective, run.plan.ranks, run.plan.limits, servers)
    return "\n".join(lines) + "\n"


def tuner_lines(collective: Collective, ranks: int, limits: Limits, servers: int = -1) -> list[str]:
    """A comment and a line for each piece from the first size that is not left to NCCL, sizes inclusive."""
    pieces = crossovers(collective, ranks, limits, LOW_BYTES, HIGH_BYTES)
    least = least_bytes(pieces[0][1])
    first = [max(ceil(start), least) for start, _ in pieces]
    last = [*(ceil(start) - 1 for start, _ in pieces[1:]), HIGH_BYTES]
    lines = [f"# {COLLECTIVES[collective]} below {least} bytes: left to NCCL"] if least > LOW_BYTES else []
    for low, high, (_, plan) in zip(first, last, pieces, strict=True):
        if low > high:
            continue
        lines.append(f"# {plan.name}: {plan.time_s(low) * 1e6:.3g} to {plan.time_s(high) * 1e6:.3g} us")
        fields = (COLLECTIVES[collective], low, high, nearest(plan), "simple", channels(plan), servers, ranks, -1, -1)
        lines.append(",".join(map(str, fields)))
    return lines


def least_bytes(quickest: CollectivePlan) -> int:
    """The size whose bytes take the fixed time of the plan of the smallest messages, which no other plan undercuts."""
    return max(ceil(quickest.latency_s / quickest.seconds_per_byte), LOW_BYTES)


def channels(plan: CollectivePlan) -> int:
    """One for each wavelength on which a rank sends at once, or as many as carry these."""
    peers = [radix - 1 for radix in plan.radices] or [1]
    width = max(sum(peers[digit] * plan.wavelengths[digit] for digit in held) for held in plan.groups())
    needed = ceil(width * plan.limits.wavelength_bytes_per_s / CHANNEL_BYTES_PER_S)
    return min(max(width, needed), MAX_CHANNELS)


def nearest(plan: CollectivePlan) -> str:
    """Algorithm of NCCL that is most like a plan: rounds in the logarithm of the ranks, or in their number."""
    if plan.kind == "ring" or plan.collective == "broadcast":
        return "ring"
    return "tree" if plan.collective == "all_reduce" else "pat"
