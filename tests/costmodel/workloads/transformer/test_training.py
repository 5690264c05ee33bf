"""Training steps against loops over micro-batches and layers, published counts, laws of conservation, measurements."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from costmodel.fabrics import FatTree
from costmodel.hardware.device import Device, load_device
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS, Mappings
from costmodel.pricing.candidates import candidates_of
from costmodel.pricing.divided_mappings import group_degrees
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.score import score
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.shapes import load_model
from costmodel.workloads.transformer.training_spec import OVERLAP
from tests.costmodel.strategies import SMALL, jobs, some
from tests.oracles.transformer import training_step
from tests.paths import SHARED

A100 = load_device("a100-sxm")
PRETRAIN = TransformerTraining(model="gpt3-22b", global_batch=256, sequence=2048)
EXPERTS = TransformerTraining(model="mixtral-8x7b", global_batch=64, sequence=4096, expert=(1, 2, 4, 8))
NAMES = {
    "megatron-22b": "gpt3-22b", "gpt3-175b": "gpt3-175b", "megatron-530b": "gpt3-530b",
    "megatron-1t": "gpt3-1t", "llama3-70b": "llama-3.1-70b",
}  # fmt: skip


def sent_bytes(graph: OpGraph, row: int, dimension: str) -> float:
    rows = graph.messages_of(row)
    return sum(size * count for _, message, size, count in rows if message.dimension == dimension)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(job=jobs(), num_devices=st.sampled_from([1, 2, 4, 6, 8, 16]), data=st.data())
def test_columns_equal_the_scalar_oracle(job: TransformerTraining, num_devices: int, data: st.DataObject) -> None:
    mappings = some(data.draw, job.mappings(num_devices))
    graph = job.op_graph(mappings, A100)
    flops, memory_bytes = graph.flops, graph.memory_bytes
    for row in range(len(mappings)):
        oracle = training_step(job, mappings.choice(row))
        assert flops[row] == pytest.approx(oracle.total("flops"))
        assert memory_bytes[row] == pytest.approx(oracle.total("memory_bytes"))
        assert sum(count for *_, count in graph.operators_of(row)) == pytest.approx(oracle.total("launches"))
        assert graph.bubble[row] == pytest.approx(oracle.bubble)
        assert graph.relief[row] == pytest.approx(oracle.relief)
        assert graph.footprint_bytes[row] == pytest.approx(oracle.memory.footprint_bytes)
        assert graph.tier_footprint_bytes[row] == pytest.approx(oracle.memory.tier_footprint_bytes)
        assert graph.tier_bytes[row] == pytest.approx(oracle.memory.tier_bytes)
        for dimension in DIMENSIONS:
            assert sent_bytes(graph, row, dimension) == pytest.approx(oracle.sent_bytes(dimension))
            ranks = int(group_degrees(mappings)[DIMENSIONS.index(dimension), row])
            assert (job.sends(dimension) and ranks > 1) == (oracle.sent_bytes(dimension) > 0)
    assert np.all(graph.work == job.global_batch * job.sequence)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(job=jobs(), num_devices=st.sampled_from([1, 2, 4, 6, 8]))
def test_mappings_equal_a_plain_search(job: TransformerTraining, num_devices: int) -> None:
    m = job.mappings(num_devices)
    degrees = [m.tensor, m.pipeline, m.data, m.context, m.expert, m.interleave, m.micro_batch, m.zero]
    found = {tuple(map(int, row)) for row in zip(*degrees, strict=True)}
    assert found == {
        (t, p, d, c, e, v, b, z)
        for t in range(1, num_devices + 1)
        for p in range(1, num_devices // t + 1)
        for c in (1, 2)
        for d in range(1, num_devices + 1)
        if t * p * c * d == num_devices
        for e in (1, 2, 4)
        for v in (1, 2, 3)
        for b in (1, 2, 4, 8, 16)
        for z in range(4)
        if divides(job, t, p, d, c, e, v, b, z)
    }
    assert np.all(m.num_devices == num_devices)
    numbers = sum(3 * 5 * (1 if tensor == 1 else 2) for tensor, *_ in found)
    assert len({tuple(m.choice(row).items()) for row in range(len(m))}) == len(m) == numbers


def divides(job: TransformerTraining, t: int, p: int, d: int, c: int, e: int, v: int, b: int, z: int) -> bool:
    shape, stages = job.shape, p * v
    heads = shape.heads % t == 0 and (shape.kv_heads % t == 0 or t % shape.kv_heads == 0)
    batch = job.global_batch % (d * b) == 0 and job.sequence % c == 0
    layers = stages <= shape.layers if job.uneven_stages else shape.layers % stages == 0
    rounds = v == 1 or (p > 1 and (job.partial_rounds or job.global_batch // (d * b) % p == 0))
    return heads and batch and layers and rounds and shape.experts % e == 0 and d % e == 0 and (z < 2 or d * c > 1)


def test_a_fixed_micro_batch_is_kept() -> None:
    job = PRETRAIN.model_copy(update={"micro_batch": 64})
    assert set(job.mappings(16).micro_batch.tolist()) == {64}


def test_long_sequences_and_large_degrees_do_not_overflow() -> None:
    job = TransformerTraining(model="llama-3.1-8b", global_batch=2**17, sequence=2**17, context=(1, 2048))
    m = job.mappings(4096)
    assert set(m.context.tolist()) == {1, 2048}
    assert np.all(m.num_devices == 4096)
    assert np.all(job.op_graph(m, A100).flops > 0)


class TestWork:
    """Operations that no mapping may change."""

    def test_flops_do_not_depend_on_the_mapping(self) -> None:
        """Layers over all devices, and the vocabulary over those of the last stage, are the same work."""
        job = PRETRAIN.model_copy(update={"uneven_stages": False})
        m = job.mappings(32)
        graph = job.op_graph(m, A100)
        layers = sum(b.flops[b.shape] * b.times for b in graph.blocks if b.name != "vocabulary") * m.num_devices
        vocabulary = sum(b.flops[b.shape] * b.times for b in graph.blocks if b.name == "vocabulary")
        np.testing.assert_allclose(layers, layers[0])
        np.testing.assert_allclose(vocabulary * m.tensor * m.data, vocabulary[0] * m.tensor[0] * m.data[0])

    def test_flops_are_six_per_parameter_and_token(self) -> None:
        graph = PRETRAIN.op_graph(PRETRAIN.mappings(1), A100)
        rows = graph.operators_of(0)
        flops = sum(flops * count for _, operator, flops, _, count in rows if operator.kind == "matrix")
        expected = 6 * load_model("gpt3-22b").num_parameters * 256 * 2048
        assert flops == pytest.approx(expected, rel=1e-3)

    def test_flops_of_a_published_model(self) -> None:
        """Narayanan et al. 2021 (arXiv:2104.04473), section 5.1: 72 B s l h^2 (1 + s / 6h + V / 12 l h) with the
        vocabulary, where attention computes the masked half too and nothing is redone."""
        job = PRETRAIN.model_copy(update={"attention": "unfused", "sequence": 1024})
        layers, hidden, vocabulary, tokens = 48, 6144, 51200, 256 * 1024
        ends = 1 + 1024 / (6 * hidden) + vocabulary / (12 * layers * hidden)
        assert job.op_graph(job.mappings(1), A100).flops[0] == pytest.approx(72 * tokens * layers * hidden**2 * ends)

    def test_experts_visited_by_every_token_are_one_wide_network(self) -> None:
        """Eight experts of an eighth of the width, all visited, multiply as much as one network."""
        dense = TransformerTraining(model=SMALL, global_batch=8, sequence=64)
        narrow = SMALL | {"ffn": SMALL["ffn"] // 8, "experts": 8, "experts_per_token": 8}
        both = [dense, TransformerTraining(model=narrow, global_batch=8, sequence=64)]
        flops = []
        for job in both:
            rows = job.op_graph(job.mappings(1), A100).operators_of(0)
            flops.append(sum(f * n for _, o, f, _, n in rows if "router" not in o.name))
        assert flops[0] == pytest.approx(flops[1])
        assert both[1].shape.num_parameters - both[0].shape.num_parameters == 6 * 8 * SMALL["hidden"]

    def test_one_expert_is_a_dense_model(self) -> None:
        dense = TransformerTraining(model=SMALL, global_batch=8, sequence=64)
        one = TransformerTraining(model=SMALL | {"experts": 1, "experts_per_token": 1}, global_batch=8, sequence=64)
        graphs = [job.op_graph(job.mappings(4), A100) for job in (dense, one)]
        for column in ("flops", "memory_bytes", "footprint_bytes"):
            np.testing.assert_array_equal(getattr(graphs[0], column), getattr(graphs[1], column))

    def test_routed_work_does_not_depend_on_where_experts_live(self) -> None:
        m = EXPERTS.mappings(16)
        graph = EXPERTS.op_graph(m, A100)
        rows = [
            sum(f * n for block, o, f, _, n in graph.operators_of(row) if o.name.startswith("expert"))
            for row in range(0, len(m), 5)
        ]
        np.testing.assert_allclose(rows, rows[0])


class TestPipeline:
    def test_bubble_of_a_known_case(self) -> None:
        job = PRETRAIN.model_copy(update={"global_batch": 12})
        graph = job.op_graph(Mappings.of(tensor=8, pipeline=[6, 1, 6], data=[1, 6, 1], interleave=[1, 1, 2]), A100)
        np.testing.assert_allclose(graph.bubble, [5 / 12, 0.0, 5 / 24])

    def test_only_what_each_stage_does_per_micro_batch_is_in_the_bubble(self) -> None:
        graph = PRETRAIN.op_graph(PRETRAIN.mappings(4), A100)
        repeated = {block.name for block in graph.blocks if block.in_bubble}
        assert repeated == {"forward", "backward", "hand-over"}

    def test_uneven_stages_spare_the_last_one(self) -> None:
        """7 layers on 4 stages: 2, 2, 2, 1; on 2 stages of 2 chunks: 2 + 2 and the 3 that remain; on 2 of 3 chunks, of
        which one has 2: 4 and 3."""
        job = TransformerTraining(model=SMALL | {"layers": 7}, global_batch=8, sequence=64, uneven_stages=True)
        graph = job.op_graph(Mappings.of(pipeline=[4, 2, 2, 1], interleave=[1, 2, 3, 1]), A100)
        np.testing.assert_allclose(graph.relief, [1 / 2, 1 / 4, 1 / 4, 0.0])
        passes = [sum(b.times[row] for b in graph.blocks if b.name == "forward") for row in range(4)]
        np.testing.assert_allclose(np.array(passes) / passes[-1], [2 / 7, 4 / 7, 4 / 7, 1.0])


class TestMeasured:
    """Korthikanti et al. 2022, table 5, on A100, and measured steps on B200, as far as each table says."""

    def rows(self, device: str) -> list[dict[str, str]]:
        path = SHARED / "measured" / "training.csv"
        if not path.exists():
            pytest.skip(f"measured steps are not at {path}")
        with path.open() as file:
            return [row for row in csv.DictReader(file) if row["device"] == device]

    def job_and_configuration(self, row: dict[str, str]) -> tuple[TransformerTraining, Configuration]:
        degrees = {"tensor": "tp", "pipeline": "pp", "data": "dp", "context": "cp"} | {"micro_batch": "micro_batch"}
        numbers = {name: int(row[column]) for name, column in degrees.items()}
        kinds = {"tensor": "ring", "pipeline": "switched", "data": "ring", "context": "ring"}
        ranks = numbers | {"data": numbers["data"] * numbers["context"]}
        plans = {f"{name}_collective": Collective(kind=kind) for name, kind in kinds.items() if ranks[name] > 1}
        recompute, _, how = row["recompute"].partition("+")
        job = TransformerTraining(
            model=load_model(NAMES[row["model"]]).model_copy(update={"layers": int(row["layers"])}),
            global_batch=int(row["micro_batches"]) * numbers["micro_batch"] * numbers["data"],
            sequence=int(row["seq_len"]),
            micro_batch=numbers["micro_batch"],
            interleave=int(row["interleave"]),
            context=numbers["context"],
            recompute=recompute,
            sequence_parallel=recompute == "none" or "sequence-parallel" in how,
            attention="unfused" if row["device"].startswith("a100") else "fused",
            overlap=OVERLAP | {"tensor": 0.0},
            uneven_stages=True,
            partial_rounds=True,
        )
        block = numbers["tensor"] * numbers["context"]
        return job, Configuration.model_validate(numbers | plans | {"block": block})

    def step_s(self, row: dict[str, str], device: Device, fabric: FatTree) -> float:
        job, configuration = self.job_and_configuration(row)
        return float(score(candidates_of([configuration], job, device, fabric), device, fabric).step_s[0])

    @pytest.mark.parametrize(
        ("device", "part", "near", "far", "bound"),
        [("a100-80gb", "a100-sxm", 235e9, 25e9, 0.04), ("b200", "b200-sxm", 372e9, 372e9, 0.04)],
    )
    def test_steps_are_met_roughly(self, device: str, part: str, near: float, far: float, bound: float) -> None:
        fabric = FatTree.model_validate(
            {
                "servers": 4096, "gpus_per_server": 8, "nvlink_bandwidth": near, "network_bandwidth": far,
                "nvlink_alpha": 0, "network_alpha": 0, "nvlink_energy": 0, "network_energy": 0,
            }
        )  # fmt: skip
        errors = [self.step_s(row, load_device(part), fabric) / float(row["step_s"]) - 1 for row in self.rows(device)]
        assert np.mean(np.abs(errors)) < bound, errors
        assert np.max(np.abs(errors)) < 0.1, errors

    def test_peak_memory_is_met(self) -> None:
        for row in self.rows("b200"):
            job, configuration = self.job_and_configuration(row)
            mapping = Mappings.of(**configuration.choice(job.menus()))
            found = job.op_graph(mapping, load_device("b200-sxm")).footprint_bytes[0]
            assert found == pytest.approx(float(row["peak_alloc_gib"]) * 2**30, rel=0.015), row


class TestFiles:
    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("model", "gpt3-175", "did you mean gpt3-175b"),
            ("precision", "fp2", "'fp8', 'int8' or 'fp4'"),
            ("micro_batch", 0, "greater than or equal to 1"),
            ("recompute", "some", "'none', 'selective' or 'full'"),
            ("offload", "weights+caches", "'weights\\+caches' is not 'none' or some of weights, activations"),
            ("offload", ["none", "weights+weights"], "is not 'none' or some of"),
            ("zero", 4, "zero"),
            ("overlap", {"tensor": 1.5}, "less than or equal to 1"),
            ("epochs", 3, "Extra inputs"),
        ],
    )
    def test_bad_fields_are_named(self, key: str, value: object, message: str) -> None:
        with pytest.raises(ValidationError, match=message):
            TransformerTraining.model_validate(PRETRAIN.model_dump() | {key: value})

    def test_round_trip_keeps_the_name_of_the_model(self) -> None:
        assert PRETRAIN.model_dump()["model"] == "gpt3-22b"
        assert TransformerTraining.model_validate_json(PRETRAIN.model_dump_json()) == PRETRAIN
        assert "gpt3-22b" in str(TransformerTraining.model_json_schema())


def graph_of(data: int = 8, zero: int = 3, **fields: object) -> OpGraph:
    job = TransformerTraining.model_validate(PRETRAIN.model_dump() | fields)
    return job.op_graph(Mappings.of(tensor=1, pipeline=1, data=data, micro_batch=1, zero=zero), load_device("h100-sxm"))


def test_zero_divides_over_some_ranks_where_the_others_hold_copies() -> None:
    """Over 2 of 8 ranks each holds what it does over 2; a group that does not divide the ranks is not listed."""
    whole, halves = (float(graph_of(data=data).footprint_bytes[0]) for data in (8, 2))
    shared = float(graph_of(shard_ranks=2).footprint_bytes[0])
    assert whole < shared == halves
    assert float(graph_of(shard_ranks=64).footprint_bytes[0]) == whole
    listed = PRETRAIN.model_copy(update={"shard_ranks": 4}).mappings(24)
    shards = listed.data * listed.context
    assert np.all((shards <= 4) | (shards % 4 == 0))


def test_parameters_become_narrow_once_a_step() -> None:
    """4 bytes each but the vocabulary's, unless they come narrow."""
    casts = {}
    for gathered in (None, "fp8"):
        blocks = graph_of(precision="fp8", gather_precision=gathered, zero=1).blocks
        found = [o for block in blocks for o in block.operators if o.name == "casts of parameters"]
        casts[gathered] = [float(np.max(o.memory_bytes)) for o in found]
    shape = PRETRAIN.shape
    assert casts[None] == [pytest.approx(4 * (shape.num_parameters - shape.vocabulary_parameters), rel=1e-3)]
    assert casts["fp8"] == []


def test_gradients_of_half_the_size_halve_what_is_kept_and_sent_of_them() -> None:
    """Parameters and the optimizer's state stay as they are."""
    wide, narrow = (graph_of(gradient_precision=precision, data=8, zero=1) for precision in ("fp32", "bf16"))
    sizes = {}
    for graph in (wide, narrow):
        (optimizer,) = (block for block in graph.blocks if block.name == "optimizer")
        for message in optimizer.messages:
            sizes.setdefault(message.name, []).append(float(np.max(message.message_bytes)))
    assert sizes["gradients"][0] == 2 * sizes["gradients"][1]
    assert sizes["parameters"][0] == sizes["parameters"][1]
    saved = float(wide.footprint_bytes[0] - narrow.footprint_bytes[0])
    assert saved == pytest.approx(2 * PRETRAIN.shape.num_parameters, rel=1e-3)


def test_prefetched_messages_keep_processors_of_some_devices_busy() -> None:
    """16 of 132 on H100: of what passes beside operators, 12 % of its time shows. Where nothing is divided so, and on
    devices whose engines send, all is as it was."""
    job, device = PRETRAIN, load_device("h100-sxm")
    both = Mappings.of(data=8, micro_batch=1, zero=[1, 3])
    others = device.model_copy(update={"collective_sm": 0})
    np.testing.assert_allclose(job.op_graph(both, device).overlap["data"], [OVERLAP["data"], 0.95 * (1 - 16 / 132)])
    np.testing.assert_allclose(job.op_graph(both, others).overlap["data"], [OVERLAP["data"], 0.95])


def test_tensor_messages_overlap_under_sequence_parallelism_alone() -> None:
    both = Mappings.of(tensor=2, micro_batch=1, sequence_parallel=[0, 1])
    overlap = PRETRAIN.op_graph(both, load_device("h100-sxm")).overlap["tensor"]
    np.testing.assert_array_equal(overlap, [0.0, OVERLAP["tensor"]])
