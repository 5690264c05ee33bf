"""What is listed together, or asked for again, is what is listed alone."""

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.parallelism.mappings import CHOICES
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.limits import ANYWHERE, Limits
from costmodel.pricing.listing import listed_and_priced, priced
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import Scores
from costmodel.workloads import TransformerInference, TransformerTraining, Workload
from tests.costmodel.pricing.score_cases import FAT_TREE as FIELDS
from tests.costmodel.pricing.score_cases import fabric_of

FAT_TREE = fabric_of(FIELDS)
H100 = load_device("h100-sxm")
TRAIN = TransformerTraining(model="bert-large", global_batch=96, sequence=512)
CHAT = TransformerInference(model="llama-3.1-8b", concurrency=(4, 16), input_tokens=512, output_tokens=128)
SIZES = (2, 3, 8, 16)


def _told(found: Candidates, scores: Scores) -> list[tuple[object, ...]]:
    rows = zip(map(found.configuration, range(len(found))), scores.step_s.tolist(), strict=True)
    return [(str(configuration), round(step_s, 15)) for configuration, step_s in rows]


@pytest.mark.parametrize("workload", [TRAIN, CHAT])
def test_sizes_together_are_each_size_after_the_other(workload: Workload) -> None:
    together = workload.mappings(*SIZES)
    apart = [workload.mappings(size) for size in SIZES]
    for name in ("num_devices", *CHOICES):
        assert np.array_equal(getattr(together, name), np.concatenate([getattr(each, name) for each in apart])), name
    assert len(workload.mappings()) == 0


@pytest.mark.parametrize("workload", [TRAIN, CHAT])
def test_asking_again_gives_what_was_found(workload: Workload) -> None:
    first = priced(workload, SIZES, H100, FAT_TREE, ANYWHERE)
    again = priced(workload.model_copy(), list(SIZES), H100.model_copy(), FAT_TREE.model_copy(), ANYWHERE)
    assert again[0] is first[0]
    assert again[1] is first[1]
    with pytest.raises(ValueError, match="read-only"):
        first[1].step_s[:] = 0.0
    assert _told(*first) == _told(*with_phases(enumerate_candidates(workload, SIZES, H100, FAT_TREE), H100, FAT_TREE))


def test_other_questions_have_answers_of_their_own() -> None:
    whole = priced(TRAIN, SIZES, H100, FAT_TREE, ANYWHERE)[0]
    narrow = priced(TRAIN, SIZES, H100, FAT_TREE, Limits(one_server=True))[0]
    longer = priced(TRAIN.model_copy(update={"sequence": 256}), SIZES, H100, FAT_TREE, ANYWHERE)[0]
    assert len(narrow) < len(whole)
    assert longer.workload != whole.workload


def test_limits_on_waiting_leave_what_meets_them() -> None:
    waits = priced(CHAT, SIZES, H100, FAT_TREE, ANYWHERE)[1].tpot_s
    asked = CHAT.model_validate(CHAT.model_dump() | {"limits": {"tpot": f"{1e3 * float(np.median(waits))} ms"}})
    left = listed_and_priced(asked, SIZES, H100, FAT_TREE)[1].tpot_s
    assert sorted(left.tolist()) == sorted(wait for wait in waits.tolist() if wait <= float(np.median(waits)))
