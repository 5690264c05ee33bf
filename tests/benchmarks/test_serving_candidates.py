"""Candidates of serving that are priced in a second of one core."""

import time

import pytest

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import load_system
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.workloads import TransformerInference

ASKED = 20_000


@pytest.mark.slow
def test_candidates_a_second() -> None:
    """A mixture of experts on each number of H100 up to 256, in continuous batching."""
    job = TransformerInference(model="qwen3-30b-a3b", concurrency=512, input_tokens=1024, output_tokens=512)
    device, fabric = load_device("h100-sxm"), fat_tree_of(load_system("dgx-h100"), 512)
    rows = enumerate_candidates(job, range(1, 257), device, fabric)
    start_s = time.process_time()
    score(rows, device, fabric)
    assert len(rows) / (time.process_time() - start_s) > ASKED
