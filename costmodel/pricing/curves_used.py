"""Curves that price jobs: what is asked of each, and on which device it was fitted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from costmodel.hardware.device import Device
from costmodel.kernels import attention_context, collective, gemm
from costmodel.parallelism.mappings import DIMENSIONS, Floats, Ints
from costmodel.pricing import efficiency
from costmodel.pricing.calibration import DEFAULTS_OF, FitOrigin, Ranges, curve_source
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.fit_ranges import Far, farthest
from costmodel.pricing.opgraph import Block, Operator, OpGraph
from costmodel.serving import backends
from costmodel.serving.kernels import ACTIVATION, EngineKernels, as_one
from costmodel.workloads import TransformerInference, TransformerTraining, Workload
from costmodel.workloads.transformer.shapes import model_name

FAMILIES = {
    "training": "efficiencies of training",
    "serving": "software that serves",
    gemm.FAMILY: "matrix products",
    attention_context.FAMILY: "attention of prompts",
    collective.FAMILY: "collectives in a node",
}
"""how readers are told of curves"""
Key = tuple[str, str]
"""family and variant of a curve"""
Source = tuple[str, FitOrigin | None]
"""device on which a curve was fitted, "" where on none, and what decided it"""
Asked = Iterator[tuple[Key, dict[str, Floats]]]


@dataclass(frozen=True)
class CurveUse:
    """A curve of a device that prices jobs."""

    family: str
    device: str
    fitted_on: str
    """device; "" where nothing was fitted on this one or those that it is like"""
    origin: FitOrigin | None
    asked: Ranges
    """least and most by names of ranges of fits; of software as a whole none"""

    @property
    def far(self) -> list[Far]:
        """What is asked beyond what the fit saw."""
        return farthest({} if self.origin is None else self.origin.ranges, self.asked)


def curves_used(candidates: Candidates, device: Device) -> list[CurveUse]:
    """Those that price the rows on an accelerator, each once."""
    spans: dict[Key, Ranges] = {}
    wholes: dict[str, Source] = {}
    for part in (candidates.in_first_phase(), candidates.in_last_phase()):
        for own, graph in (part.part(slice(None), device), part.of_prompts().part(slice(None), device)):
            wholes |= _wholes(candidates.workload, graph, device)
            for key, columns in _asked(own, graph):
                _widen(spans.setdefault(key, {}), columns)
    found = [CurveUse(key[0], device.name, *_source(device, *key), asked) for key, asked in spans.items()]
    return [*(CurveUse(family, device.name, *source, {}) for family, source in wholes.items()), *found]


def carried_over(uses: Iterable[CurveUse]) -> list[str]:
    """What was fitted on other devices, in words, a line for each of these, or nowhere."""
    lines: dict[str, dict[str, None]] = {}
    for use in uses:
        if use.fitted_on != use.device:
            known = f"carried over to {use.device} from {use.fitted_on}, kernels by the peaks of both"
            typical = f"typical, since nothing was fitted on {use.device} or what it is like"
            lines.setdefault(known if use.fitted_on else typical, {}).setdefault(FAMILIES[use.family])
    return [f"{words}: {', '.join(families)}" for words, families in lines.items()]


def unfitted_framework(workload: Workload, device: Device) -> str:
    """That a training job names a framework under which nothing was fitted, in words; empty where it does not."""
    if not isinstance(workload, TransformerTraining) or not workload.framework:
        return ""
    variant = efficiency.variant_of(workload.precision)
    if curve_source(device, "training", f"{variant} {workload.framework}") is not None:
        return ""
    return f"nothing was fitted under {workload.framework} on {device.name}: the newest fit of training holds"


def _wholes(workload: Workload, graph: OpGraph, device: Device) -> dict[str, Source]:
    """Of what is fitted on whole steps, by family."""
    if isinstance(workload, TransformerInference):
        if not isinstance(graph.kernels, EngineKernels):
            return {}
        return {backends.FAMILY: backends.serving_source(device, workload.backend, model_name(workload.shape))}
    if graph.regime != "training":
        return {}
    variant = efficiency.variant_of(graph.precision)
    names = (f"{variant} {graph.framework}", variant, "bf16")
    known = (curve_source(device, graph.regime, name) for name in names)
    return {graph.regime: next((source for source in known if source is not None), ("", None))}


def _source(device: Device, family: str, variant: str) -> Source:
    """Curves of kernels without a fit are rounded ones of one device; narrow products may have those of wide ones."""
    others = ("bf16",) if family == gemm.FAMILY else ()
    found = (curve_source(device, family, each) for each in (variant, *others))
    return next((source for source in found if source is not None), (DEFAULTS_OF, None))


def _widen(ranges: Ranges, columns: dict[str, Floats]) -> None:
    for name, column in columns.items():
        if column.size:
            low, high = ranges.get(name, (np.inf, -np.inf))
            ranges[name] = min(low, float(column.min())), max(high, float(column.max()))


def _asked(candidates: Candidates, graph: OpGraph) -> Asked:
    """Sizes of kernels that curves price; none where a source's own rules do."""
    engine = graph.kernels if isinstance(graph.kernels, EngineKernels) else None
    if graph.kernels is not None and engine is None:
        return
    for block in graph.blocks:
        shapes = np.unique(block.shape[block.times > 0])
        for operator in block.operators:
            used = shapes[block.column(operator.count)[shapes] > 0]
            yield from _of_operator(block, operator, used, graph, is_engine=engine is not None)
    if engine is not None:
        yield from _of_messages(candidates, graph)


def _of_operator(block: Block, operator: Operator, used: Ints, graph: OpGraph, *, is_engine: bool) -> Asked:
    def columns(**sizes: Floats | float) -> dict[str, Floats]:
        return {name: block.column(size)[used] for name, size in sizes.items()}

    if operator.sizes is not None:
        m, n, k = as_one(operator) if is_engine else operator.sizes
        yield (gemm.FAMILY, gemm.variant_of(operator.precision or graph.precision)), columns(m=m, n=n, k=k)
    elif (sizes := operator.attention) is not None and np.any(np.asarray(sizes.tokens) > 1):
        key = attention_context.FAMILY, attention_context.variant_of(ACTIVATION)
        heads = {"num_heads": sizes.heads, "num_key_value_heads": sizes.kv_heads, "head_dim": sizes.head_dim}
        yield key, columns(new_tokens=sizes.tokens, cached_tokens=sizes.cached, **heads)


def _of_messages(candidates: Candidates, graph: OpGraph) -> Asked:
    """All-reduces inside nodes."""
    m = candidates.mapping
    for axis, dimension in enumerate(DIMENSIONS):
        plans = [candidates.plans[plan] for plan in candidates.plan[axis]]
        rows = np.flatnonzero([plan.node_bytes_per_s > 0 for plan in plans])
        ranks = np.array([plans[row].ranks for row in rows], np.float64)
        for block in graph.blocks:
            for message in (each for each in block.messages if each.dimension == dimension):
                shape = block.shape[m[rows]]
                is_sent = (block.times[m[rows]] > 0) & (block.column(message.count)[shape] > 0)
                sizes = block.column(message.message_bytes)[shape][is_sent]
                yield (collective.FAMILY, collective.VARIANT), {"num_gpus": ranks[is_sent], "message_bytes": sizes}
