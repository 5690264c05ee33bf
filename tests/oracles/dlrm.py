"""One rank's step of a recommendation model written out: table by table, layer by layer, one mapping at a time."""

from typing import Any

from costmodel.workloads.dlrm.dlrm import RUNTIME_BYTES
from tests.oracles.transformer import BYTES, Run, Send, Step


def dlrm_step(job: Any, choice: dict[str, int]) -> Step:
    """Lookups, dense networks and, in training, their gradients and updates."""
    shape, step, trains = job.shape, Step(), job.mode == "training"
    tensor, data = choice["tensor"], choice["data"]
    replica, own = job.batch / data, job.batch / data / tensor
    element = BYTES[job.table_precision]
    pooled_element = BYTES[job.pooled_precision] if job.pooled_precision else element
    tables = [(table.rows, table.pooling) for table in shape.tables for _ in range(table.count)]
    layers, pooled = dense_layers(shape, len(tables)), len(tables) * shape.dimension * pooled_element
    runs = lookups(shape, tables, replica, tensor, element)
    runs.append(Run("elementwise", 0.0, pooled * replica * (2 if tensor > 1 else 1)))
    sends = [Send("tensor", pooled * replica, 0.5 if tensor > 1 else 0.0)]
    dense = dense_runs(job, layers, len(tables), own)
    runs += dense
    if trains:
        runs += [Run(r.kind, r.flops, r.memory_bytes, 2 * r.times, r.sizes) for r in dense]
        more = training_part(job, tables, layers, (tensor, data), pooled)
        runs, sends = runs + more[0], sends + more[1]
    step.every_stage.add(runs, sends)
    step.memory.footprint_bytes = footprint_bytes(job, tables, layers, (tensor, data), pooled)
    return step


def dense_layers(shape: Any, num_tables: int) -> list[tuple[int, int]]:
    """Inputs and outputs of every matrix."""
    width = (num_tables + 1) * shape.dimension
    found, inputs = [], shape.dense_features
    for outputs in shape.bottom:
        found.append((inputs, outputs))
        inputs = outputs
    for _ in range(shape.cross_layers):
        found += [(width, shape.cross_rank), (shape.cross_rank, width)]
    pairs = sum(1 for a in range(num_tables + 1) for _ in range(a))
    inputs = width if shape.interaction == "cross" else shape.dimension + pairs
    for outputs in shape.top:
        found.append((inputs, outputs))
        inputs = outputs
    return found


def lookups(shape: Any, tables: list[tuple[int, int]], samples: float, tensor: int, element: float) -> list[Run]:
    moved = sum(samples * pooling / tensor * (shape.dimension * element + shape.index_bytes) for _, pooling in tables)
    return [Run("elementwise", 0.0, moved, memory_efficiency=shape.gather_efficiency)]


def dense_runs(job: Any, layers: list[tuple[int, int]], num_tables: int, samples: float) -> list[Run]:
    shape, size = job.shape, BYTES[job.precision]
    runs = []
    for inputs, outputs in layers:
        moved = size * (inputs * outputs + samples * inputs + samples * outputs)
        runs.append(Run("matrix", 2 * samples * inputs * outputs, moved, sizes=(samples, outputs, inputs)))
    vectors, width = num_tables + 1, (num_tables + 1) * shape.dimension
    if shape.interaction == "dot":
        left = shape.dimension + vectors * (vectors - 1) / 2
        runs.append(Run("matrix", 2 * samples * vectors * vectors * shape.dimension, size * samples * (width + left)))
    else:
        runs += [Run("elementwise", 0.0, 4 * size * samples * width)] * shape.cross_layers
    return runs


def training_part(
    job: Any, tables: list[tuple[int, int]], layers: list[tuple[int, int]], degrees: tuple[int, int], pooled: float
) -> tuple[list[Run], list[Send]]:
    """Rows of all samples are updated by the ranks that hold them; weights by all ranks."""
    (tensor, data), shape, element = degrees, job.shape, BYTES[job.table_precision]
    looked_up = sum(job.batch * pooling / tensor for _, pooling in tables)
    parameters = sum(inputs * outputs for inputs, outputs in layers)
    row = 2 * (shape.dimension * element + 4) + shape.index_bytes
    runs = [
        Run("elementwise", 0.0, pooled * job.batch),
        Run("elementwise", 0.0, looked_up * row, memory_efficiency=shape.gather_efficiency),
        Run("elementwise", 0.0, (20 + BYTES[job.precision]) * parameters),
    ]
    sends = []
    if tensor > 1:
        sends += [Send("tensor", pooled * job.batch / data, 0.5), Send("tensor", 4 * parameters, 1.0)]
    if data > 1:
        sends += [Send("data", pooled * job.batch, 0.5), Send("data", shape.index_bytes * looked_up, 0.5)]
        sends += [Send("data", 4 * parameters / tensor, 1.0)]
    return runs, sends


def footprint_bytes(
    job: Any, tables: list[tuple[int, int]], layers: list[tuple[int, int]], degrees: tuple[int, int], pooled: float
) -> float:
    (tensor, data), shape, size = degrees, job.shape, BYTES[job.precision]
    trains = job.mode == "training"
    own = job.batch / data / tensor
    seen = job.batch if trains else job.batch / data
    total = RUNTIME_BYTES + pooled * (seen + own)
    for rows, pooling in tables:
        total += rows / tensor * (shape.dimension * BYTES[job.table_precision] + (4 if trains else 0))
        total += pooling * shape.index_bytes * seen / tensor
    for inputs, outputs in layers:
        total += inputs * outputs * (size + (12 if trains else 0))
        total += size * own * outputs if trains else 0
    top_inputs = layers[-len(shape.top)][0]
    widest = max(inputs + outputs for inputs, outputs in layers)
    return total + size * own * (top_inputs if trains else widest)
