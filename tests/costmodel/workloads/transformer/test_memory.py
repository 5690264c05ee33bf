"""Peak memory of training: laws of conservation, monotonicity, published activations, measured peaks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.hardware.device import load_device
from costmodel.parallelism.mappings import CHOICES, Mappings
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.shapes import load_model
from tests.costmodel.strategies import jobs, some

A100 = load_device("a100-sxm")


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["gpt3-22b", "mixtral-8x7b"])
def test_zero_divides_state_over_the_ranks_that_share_it(name: str, zero: int) -> None:
    """Optimizer state of all ranks together is 12 bytes per parameter, wherever experts live: what the tier
    takes over under offload is all of it. Source: Rajbhandari et al. 2020 (arXiv:1910.02054), section 3."""
    shape = load_model(name).model_copy(update={"kv_heads": load_model(name).heads})
    job = TransformerTraining(
        model=shape, global_batch=64, sequence=2048, zero=zero, offload="optimizer", expert=(1, 2, 8)
    )
    m = job.mappings(64)
    graph = job.op_graph(m, A100)
    copies = m.data * m.context if zero == 0 else 1
    norms = shape.layers * 2 * shape.hidden + shape.layers * shape.experts * shape.hidden * (not shape.is_dense)
    parameters = shape.num_parameters - shape.hidden + norms * (m.tensor - 1.0)
    everywhere = graph.tier_footprint_bytes * m.num_devices / copies
    kept = (m.pipeline == 1) & ((m.expert == 1) | (zero > 0))
    np.testing.assert_allclose(everywhere[kept], 12.0 * parameters[kept])


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(job=jobs(), num_devices=st.sampled_from([1, 2, 4, 6]), times=st.sampled_from([2, 3]), data=st.data())
def test_more_data_ranks_never_raise_the_footprint(
    job: TransformerTraining, num_devices: int, times: int, data: st.DataObject
) -> None:
    few = some(data.draw, job.mappings(num_devices))
    columns = {name: getattr(few, name) for name in CHOICES}
    more = Mappings.of(**columns | {"data": few.data * times})
    job = job.model_copy(update={"global_batch": job.global_batch * times})
    before, after = job.op_graph(few, A100).footprint_bytes, job.op_graph(more, A100).footprint_bytes
    assert np.all(after <= before * (1 + 1e-12))


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(job=jobs(), num_devices=st.sampled_from([1, 2, 4, 6]), data=st.data())
def test_recompute_never_needs_more_memory(job: TransformerTraining, num_devices: int, data: st.DataObject) -> None:
    rows = some(data.draw, job.mappings(num_devices))
    local = rows.take(~rows.has_offload("activations"))
    choice = {name: getattr(local, name) for name in CHOICES}
    none, selective, full = (
        job.op_graph(Mappings.of(**choice | {"recompute": np.full(len(local), code)}), A100) for code in range(3)
    )
    assert np.all(selective.footprint_bytes <= none.footprint_bytes * (1 + 1e-12))
    assert np.all(full.footprint_bytes <= none.footprint_bytes * (1 + 1e-12))
    assert np.all(full.flops > selective.flops)
    assert np.all(selective.flops >= none.flops)


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(job=jobs(), num_devices=st.sampled_from([1, 2, 4, 6]), data=st.data())
def test_offload_moves_bytes_from_local_memory_to_the_tier(
    job: TransformerTraining, num_devices: int, data: st.DataObject
) -> None:
    """To the byte where the first stage is the fullest; the tier never takes less than local memory gives."""
    rows = some(data.draw, job.mappings(num_devices))
    choice = {name: getattr(rows, name) for name in CHOICES}
    plain = job.op_graph(Mappings.of(**choice | {"offload": np.zeros(len(rows), np.int8)}), A100)
    graph = job.op_graph(rows, A100)
    freed = plain.footprint_bytes - graph.footprint_bytes
    one = rows.pipeline == 1
    np.testing.assert_allclose(freed[one], graph.tier_footprint_bytes[one], rtol=1e-9, atol=1e-3)
    assert np.all(freed <= graph.tier_footprint_bytes * (1 + 1e-9) + 1e-3)
    assert not plain.tier_footprint_bytes.any()
    assert not plain.tier_bytes.any()
    assert np.all((graph.tier_bytes > 0) == (graph.tier_footprint_bytes > 0))


def test_activations_of_a_published_model() -> None:
    """Korthikanti et al. 2022 (arXiv:2205.05198), equations 2 and 4: s b h (34 + 5 a s / h) / t bytes of a layer,
    less the 2 s b h of its two masks of dropout, which fused kernels draw again."""
    tensor, hidden, heads, sequence = 8, 12288, 96, 2048
    job = TransformerTraining(model="gpt3-175b", global_batch=1, sequence=sequence, attention="unfused")
    thin = job.model_copy(update={"model": job.shape.model_copy(update={"layers": 48})})
    footprints = [
        float(j.op_graph(Mappings.of(tensor=tensor, sequence_parallel=1), A100).footprint_bytes[0])
        - 48 * (1 if j is thin else 2) * layer_state_bytes(job, tensor)
        for j in (thin, job)
    ]
    expected = 48 * sequence * hidden * (32 + 5 * heads * sequence / hidden) / tensor
    assert footprints[1] - footprints[0] == pytest.approx(expected)


def layer_state_bytes(job: TransformerTraining, tensor: int) -> float:
    """Parameter, gradient and Adam's state, 18 bytes, of one dense layer."""
    hidden = job.shape.hidden
    return 18.0 * (12 * hidden**2 / tensor + 2 * hidden)
