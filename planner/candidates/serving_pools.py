"""A job that serves from two pools, in words: which accelerators run prompts and tokens, what goes between, and which
of these binds."""

from dataclasses import dataclass, replace

from costmodel.fabrics import LinkPlan
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import Candidates, candidates_of
from costmodel.pricing.pace import Pace
from costmodel.pricing.score import score_paced
from costmodel.serving.two_pools import POOL_RESOURCES, PoolResource, TwoPools
from costmodel.workloads import TransformerInference
from planner.fabrics.drawing import ranges
from planner.model.cluster import Cluster
from planner.model.job import Job
from planner.model.phrases import accelerators
from planner.model.plan import Assignment

MORE = 1.1
"""of one thing that two pools use, over what there is"""
LEAST_GAIN = 1e-3
"""more requests a second, as a share, from which on more of something counts"""
_MORE_OF: dict[PoolResource, str] = {
    "prompts": "speed of prompts", "caches": "bandwidth between the pools", "memory": "memory for KV caches",
    "tokens": "speed of tokens",
}  # fmt: skip


@dataclass(frozen=True)
class PoolBinding:
    """What binds a job that serves from two pools."""

    resource: PoolResource
    gains: dict[PoolResource, float]
    """more requests a second with a tenth more of each, as shares"""
    places: int
    """requests for which each replica of tokens has room at once"""


def what_binds(cluster: Cluster, workload: TransformerInference, configuration: Configuration) -> PoolBinding:
    """Memory where requests wait for room; else what gains most: a pool that is at work all the time, the light between
    the pools, or where nobody waits the pool whose work takes longest."""
    rows = candidates_of([configuration], workload, cluster.device, cluster.fabric)
    now, *others = score_paced(
        rows.in_last_phase(), cluster.device, cluster.fabric, _with_more, 1 + len(POOL_RESOURCES)
    )
    speeds = zip(POOL_RESOURCES, others, strict=True)
    gains: dict[PoolResource, float] = {name: float(each.speed[0] / now.speed[0]) - 1 for name, each in speeds}
    resource = max(gains, key=lambda name: gains[name])
    return PoolBinding("memory" if gains["memory"] > LEAST_GAIN else resource, gains, _places(rows))


def _with_more(pace: Pace | None) -> tuple[Pace, ...]:
    """The pools as they are, and with more of each thing."""
    assert isinstance(pace, TwoPools)
    return (pace, *(replace(pace, more={name: MORE}) for name in POOL_RESOURCES))


def _places(rows: Candidates) -> int:
    pace = rows.workload.op_graph(rows.mappings, rows.splits[rows.split[0]].device).pace
    assert isinstance(pace, TwoPools)
    return int(pace.load.slots[0])


def binding_in_words(cluster: Cluster, job: Job, assignment: Assignment) -> str:
    """prompts bind, ...; "" where replicas run both."""
    configuration, workload = assignment.configuration, job.workload
    if not configuration.prefill or not isinstance(workload, TransformerInference):
        return ""
    found = what_binds(cluster, workload, configuration)
    reasons: dict[PoolResource, str] = {
        "prompts": "prompts bind",
        "caches": "what passes between the pools binds",
        "memory": f"KV cache memory binds: each replica of tokens has room for {found.places:,} requests at once, and"
        " others wait",
        "tokens": "tokens bind: nobody waits for room or for a prompt's turn",
    }
    if found.resource == "memory" and workload.max_batch is not None and found.places >= workload.max_batch:
        reasons["memory"] = f"max_batch binds: each replica of tokens takes {found.places:,} requests at once"
    gains = ", ".join(f"{_MORE_OF[name]} {abs(gain):.1%}" for name, gain in found.gains.items())
    return f"{reasons[found.resource]} (with {MORE - 1:.0%} more of one thing it serves: {gains})"


def pools_in_words(cluster: Cluster, job: Job, assignment: Assignment) -> tuple[str, ...]:
    """Of the pool of prompts, of that of tokens, and of the caches between them; none where replicas run both."""
    configuration, workload = assignment.configuration, job.workload
    if not configuration.prefill or not isinstance(workload, TransformerInference):
        return ()
    first = configuration.prefill * (configuration.prefill_tensor or configuration.tensor)
    sides = ((0, first), (first, len(assignment.devices)))
    replicas = configuration.prefill, configuration.data - configuration.prefill
    expert = configuration.prefill_expert or configuration.expert, configuration.expert
    pools = [
        _pool(cluster, name, assignment.devices[slice(*side)], number, experts)
        for name, side, number, experts in zip(("prompts", "tokens"), sides, replicas, expert, strict=True)
    ]
    requests_per_s = assignment.speed / workload.output_tokens
    return (*pools, f"caches: {_caches(cluster, workload, configuration, requests_per_s)}")


def _pool(cluster: Cluster, name: str, devices: tuple[str, ...], replicas: int, expert: int) -> str:
    """prompts: 4 accelerators (s0: 0-3), 2 replicas of 2"""
    fabric, slots = cluster.fabric, dict[int, list[int]]()
    for server, slot in map(fabric.parse_device, devices):
        slots.setdefault(server, []).append(slot)
    places = "; ".join(f"{fabric.server_name(server)}: {ranges(slots[server])}" for server in sorted(slots))
    experts = f", experts over {expert}" if expert > 1 else ""
    many = f"{replicas} replica{'s' * (replicas > 1)} of {len(devices) // replicas}{experts}"
    return f"{name}: {accelerators(len(devices))} ({places}), {many}"


def _caches(cluster: Cluster, workload: TransformerInference, c: Configuration, requests_per_s: float) -> str:
    """12 GB/s, over 4 circuits of 75 GB/s each way, which reserve 300 GB/s"""
    rows = candidates_of([c], workload, cluster.device, cluster.fabric)
    graph = workload.op_graph(rows.mappings, rows.splits[rows.split[0]].device)
    pair_bytes = sum(size for block, _, size, _ in graph.messages_of(0) if block.phase == "transfer")
    width = max(c.tensor, c.prefill_tensor)
    sent = f"{pair_bytes * width * requests_per_s / 1e9:.3g} GB/s"
    plan = rows.row_plans(0)[2]
    rate = 1 / plan.seconds_per_byte
    if plan.kind == "routed":
        return f"{sent}, over links of its slice, of which each rank has {_gigabytes(rate)}/s at least"
    if not isinstance(plan, LinkPlan) or not plan.wavelengths:
        return f"{sent}, over the network, where a rank has {_gigabytes(rate * max(c.all_degrees.ranks_of_caches))}/s"
    circuits = len(plan.configurations()[0]) // 2 * len(c.all_degrees.groups("data"))
    each = f"{circuits} circuit{'s' * (circuits > 1)} of {_gigabytes(rate)}/s"
    return f"{sent}, over {each} each way, which reserve {circuits * rate / 1e9:,.0f} GB/s"


def _gigabytes(number: float) -> str:
    """Three digits, or all before the point."""
    return f"{number / 1e9:,.0f} GB" if number >= 1e12 else f"{number / 1e9:.3g} GB"
