"""What a search counts, one mapping at a time."""

from itertools import product

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.search_space import opened
from costmodel.pricing.search import search
from costmodel.pricing.search_counts import SearchCounts, in_calculon
from costmodel.workloads import TransformerTraining

DEVICE = load_device("a100-sxm")
LAYERS, HEADS, HIDDEN, SEQUENCE = 48, 64, 6144, 2048
"""of gpt3-22b"""


def factors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


def job(model: str = "gpt3-22b") -> TransformerTraining:
    workload = TransformerTraining(model=model, global_batch=48, sequence=SEQUENCE, attention="unfused")
    found = opened(workload, DEVICE)
    assert isinstance(found, TransformerTraining)
    return found


def test_calculon_lists_what_its_loops_list() -> None:
    """Loops of its search, written down anew: tensor, pipeline, data, chunks, micro-batch."""
    theirs = {
        (tensor, pipeline, 32 // (tensor * pipeline), chunks, micro)
        for tensor, pipeline in product(factors(32), factors(32))
        if 32 % (tensor * pipeline) == 0 and HIDDEN % tensor == HEADS % tensor == LAYERS % pipeline == 0
        for chunks in (factors(LAYERS // pipeline) if pipeline > 1 else [1])
        for micro in (factors(48 // (32 // (tensor * pipeline))) if 48 % (32 // (tensor * pipeline)) == 0 else [])
        if micro * SEQUENCE % tensor == 0
    }
    workload = job()
    m = workload.mappings(32)
    m = m.take(in_calculon(workload, m))
    columns = (m.tensor, m.pipeline, m.data, m.interleave, m.micro_batch)
    mine = set(zip(*(column.tolist() for column in columns), strict=True))
    micro_batches = workload.menus()["micro_batch"]
    most = {each for each in theirs if each[4] in micro_batches and _whole_rounds(*each)}
    assert mine == most
    assert 30 < len(mine) < len(theirs)
    assert {int(zero) for zero in m.zero} == {1}
    assert not in_calculon(job("mixtral-8x7b"), job("mixtral-8x7b").mappings(8)).any()


def _whole_rounds(tensor: int, pipeline: int, data: int, chunks: int, micro: int) -> bool:
    """Interleaved stages run whole rounds of micro-batches."""
    return chunks == 1 or 48 // (data * micro) % pipeline == 0


def test_counts_of_batches_add_up() -> None:
    fabric = fat_tree_of(system_of("a100-sxm"), 64)
    one, other, both = (search(job(), sizes, DEVICE, fabric).counts for sizes in ([8], [64], [8, 64]))
    assert one + other == both
    assert both.listed > both.fitting > both.as_calculon > 0
    assert SearchCounts() + one == one
