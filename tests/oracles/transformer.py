"""Scalar totals of one accelerator's step: loops over layers and micro-batches, one mapping at a time.

Written from the definitions of the workloads, with plain integers and floats, and none of their code.
"""

from dataclasses import dataclass, field


@dataclass
class Totals:
    """Sums over one step of one accelerator."""

    flops: float = 0.0
    memory_bytes: float = 0.0
    launches: float = 0.0
    sent_bytes: dict[str, float] = field(default_factory=dict)
    footprint_bytes: float = 0.0
    bubble: float = 1.0

    def run(self, flops: float, memory_bytes: float, times: float = 1.0) -> None:
        self.flops += times * flops
        self.memory_bytes += times * memory_bytes
        self.launches += times

    def multiply(self, rows: float, inner: float, columns: float, weight: float, activation: float) -> None:
        self.run(2 * rows * inner * columns, weight * inner * columns + activation * rows * (inner + columns))

    def send(self, dimension: str, message_bytes: float, times: float = 1.0) -> None:
        self.sent_bytes[dimension] = self.sent_bytes.get(dimension, 0.0) + times * message_bytes


def layer_weights(shape, tensor: int) -> list[tuple[float, float]]:
    query = shape.heads * shape.head_dim / tensor
    keys = max(shape.kv_heads / tensor, 1) * shape.head_dim
    up = shape.ffn * (2 if shape.gated else 1) / tensor
    return [
        (shape.hidden, query + keys + keys),
        (query, shape.hidden),
        (shape.hidden, up),
        (shape.ffn / tensor, shape.hidden),
    ]


def rank_parameters(shape, tensor: int, num_layers: int, num_vocabularies: int) -> float:
    total = num_vocabularies * shape.vocabulary * shape.hidden / tensor
    for _ in range(num_layers):
        total += 2 * shape.hidden
        for inner, columns in layer_weights(shape, tensor):
            total += inner * columns
    return total


def training_step(job, tensor: int, pipeline: int, data: int, micro_batch: int) -> Totals:
    shape, totals = job.shape, Totals()
    size = {"fp32": 4, "bf16": 2, "fp16": 2}[job.precision]
    micro_batches = job.global_batch // (data * micro_batch)
    num_layers = shape.layers // pipeline
    tokens = micro_batch * job.sequence
    forwards = 2 if job.recompute == "full" else 1
    hidden_bytes = size * tokens * shape.hidden
    for _ in range(micro_batches):
        for _ in range(num_layers):
            _train_layer(totals, job, tensor, micro_batch, forwards, size)
            if tensor > 1:
                totals.send("tensor", hidden_bytes, 2 * forwards + 2)
        for _ in range(3):
            totals.multiply(tokens, shape.hidden, shape.vocabulary / tensor, size, size)
        totals.run(0, 16 * tokens * shape.vocabulary / tensor)
        if pipeline == 1:
            totals.run(0, 4 * hidden_bytes)
        if tensor > 1:
            totals.send("tensor", hidden_bytes)
        if pipeline > 1:
            totals.send("pipeline", hidden_bytes / tensor, 2)
    vocabularies = 2 if pipeline == 1 and not shape.tied_embeddings else 1
    parameters = rank_parameters(shape, tensor, num_layers, vocabularies)
    totals.run(0, parameters * (30 / data + 8))
    if data > 1:
        totals.send("data", parameters * (4 + size) / 2)
    totals.bubble = (micro_batches + pipeline - 1) / micro_batches
    totals.footprint_bytes = _training_footprint(job, parameters, tensor, pipeline, data, micro_batch, micro_batches)
    return totals


def _train_layer(totals: Totals, job, tensor: int, micro_batch: int, forwards: int, size: int) -> None:
    shape, tokens = job.shape, micro_batch * job.sequence
    parameters = rank_parameters(shape, tensor, 1, 0)
    for _ in range(forwards + 2):
        for inner, columns in layer_weights(shape, tensor):
            totals.multiply(tokens, inner, columns, size, size)
        for _ in range(2):
            totals.run(0, 5 * size * tokens * shape.hidden / tensor)
        totals.run(0, (3 if shape.gated else 2) * size * tokens * shape.ffn / tensor)
    totals.run(0, 8 * parameters)
    scores = micro_batch * job.sequence * job.sequence * shape.heads / tensor
    product = 2 * scores * shape.head_dim
    if shape.causal and job.recompute != "none":
        product /= 2
    spilled = 4 * size * scores if job.recompute == "none" else 0
    queries = size * tokens * shape.heads * shape.head_dim / tensor
    keys = size * tokens * max(shape.kv_heads / tensor, 1) * shape.head_dim
    for _ in range(forwards):
        totals.run(2 * product, 2 * queries + 2 * keys + spilled)
    backward_products = 4 if job.recompute == "none" else 5
    totals.run(backward_products * product, 4 * queries + 4 * keys + spilled)


def _training_footprint(job, parameters, tensor, pipeline, data, micro_batch, micro_batches) -> float:
    shape = job.shape
    size = 4 if job.precision == "fp32" else 2
    state = 8 if job.precision == "fp32" else 12
    tokens = micro_batch * job.sequence
    kept = 4 * shape.hidden + 2 * shape.heads * shape.head_dim
    kept += 2 * max(shape.kv_heads, tensor) * shape.head_dim + (3 if shape.gated else 2) * shape.ffn
    layer = 1.115 * size * tokens * kept / tensor
    working = 0.0
    if job.recompute == "full":
        layer, working = size * tokens * shape.hidden / tensor, layer
    if job.recompute == "none":
        layer += (2 * size + 1) * micro_batch * job.sequence**2 * shape.heads / tensor
    peak = 0.0
    for stage in range(pipeline):
        activations = min(pipeline - stage, micro_batches) * (shape.layers // pipeline) * layer
        if stage == pipeline - 1:
            activations += 2.49 * size / 2 * tokens * shape.vocabulary / tensor
        peak = max(peak, activations)
    return parameters * (size + 4 + state / data) + peak + working + 0.71 * 2**30


def inference_step(job, tensor: int, data: int) -> Totals:
    shape, totals = job.shape, Totals()
    sequences = -(-job.concurrency // data)
    context = job.input_tokens + job.output_tokens / 2
    prompt = job.input_tokens / 2 if shape.causal else job.input_tokens
    _infer_pass(totals, job, tensor, sequences, 1, context, context, 1)
    _infer_pass(totals, job, tensor, sequences, job.input_tokens, prompt, job.input_tokens, job.output_tokens)
    size = {"fp8": 1, "bf16": 2}[job.precision]
    cache = {"fp8": 1, "bf16": 2}[job.kv_precision]
    layers = rank_parameters(shape, tensor, shape.layers, 0)
    vocabularies = 1 if shape.tied_embeddings else 2
    keys = max(shape.kv_heads / tensor, 1) * shape.head_dim
    length = job.input_tokens + job.output_tokens
    totals.footprint_bytes = size * layers + 2 * vocabularies * shape.vocabulary * shape.hidden / tensor + 2e9
    for _ in range(shape.layers):
        totals.footprint_bytes += sequences * length * 2 * cache * keys
    return totals


def _infer_pass(totals, job, tensor, sequences, new_tokens, context, kv_tokens, steps) -> None:
    """Adds 1 / steps of one pass through the layers."""
    shape, once = job.shape, Totals()
    size = {"fp8": 1, "bf16": 2}[job.precision]
    cache = {"fp8": 1, "bf16": 2}[job.kv_precision]
    tokens = sequences * new_tokens
    query = shape.heads * shape.head_dim / tensor
    keys = max(shape.kv_heads / tensor, 1) * shape.head_dim
    for _ in range(shape.layers):
        for inner, columns in layer_weights(shape, tensor):
            once.multiply(tokens, inner, columns, size, 2)
        once.run(4 * tokens * context * query, sequences * kv_tokens * 2 * keys * cache + 4 * tokens * query)
        once.run(0, 10 * tokens * shape.hidden)
        once.run(0, 10 * tokens * shape.hidden)
        once.run(0, (6 if shape.gated else 4) * tokens * shape.ffn / tensor)
        if tensor > 1:
            once.send("tensor", 2 * tokens * shape.hidden, 2)
    once.multiply(sequences, shape.hidden, shape.vocabulary / tensor, 2, 2)
    totals.flops += once.flops / steps
    totals.memory_bytes += once.memory_bytes / steps
    totals.launches += once.launches / steps
    for dimension, sent in once.sent_bytes.items():
        totals.send(dimension, sent / steps)
