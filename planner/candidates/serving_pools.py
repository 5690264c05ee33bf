"""A job that serves from two pools, in words: which accelerators run prompts and tokens, and what goes between."""

from costmodel.fabrics import LinkPlan
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import candidates_of
from costmodel.workloads import TransformerInference
from planner.fabrics.drawing import ranges
from planner.model.cluster import Cluster
from planner.model.job import Job
from planner.model.phrases import accelerators
from planner.model.plan import Assignment


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
