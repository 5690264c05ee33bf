"""How a job is written, there and back, and what older files say."""

from typing import Any

import pytest
from pydantic import ValidationError

from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import CHOICES, DIMENSIONS
from costmodel.workloads import TransformerInference, TransformerTraining

FIXED = TransformerTraining(model="bert-large", global_batch=8, sequence=128, recompute="full", zero=2)
OPEN = TransformerTraining(
    model="bert-large",
    global_batch=8,
    sequence=128,
    interleave=(1, 2),
    recompute=("none", "full"),
    zero=(0, 3),
    sequence_parallel=(False, True),
    offload=("none", "weights+optimizer"),
)


def test_a_configuration_of_before_still_loads() -> None:
    written = {"tensor": 2, "pipeline": 2, "data": 2, "micro_batch": 4, "block": 2}
    configuration = Configuration.model_validate(written)
    assert configuration.num_devices == 8
    choice = configuration.choice(FIXED.menus())
    assert {name: choice[name] for name in ("tensor", "pipeline", "data", "micro_batch")} == {
        name: number for name, number in written.items() if name != "block"
    }
    assert (choice["recompute"], choice["zero"], choice["sequence_parallel"]) == (2, 2, 1)
    assert (choice["context"], choice["expert"], choice["interleave"], choice["offload"]) == (1, 1, 1, 0)
    assert FIXED.mappings(8).where(choice).sum() == 1
    serving = TransformerInference(model="llama-3.1-8b", concurrency=8, input_tokens=8, output_tokens=8)
    replicas = Configuration(tensor=2, data=2, micro_batch=4).choice(serving.menus())
    assert serving.mappings(4).where(replicas).sum() == 1


def test_what_the_workload_fixes_is_not_written() -> None:
    m = FIXED.mappings(4)
    for row in range(len(m)):
        written = Configuration.of_choice(m.choice(row), FIXED.menus()).model_dump(exclude_none=True)
        assert not {"interleave", "recompute", "zero", "sequence_parallel", "offload"} & written.keys()


@pytest.mark.parametrize("workload", [FIXED, OPEN])
def test_mappings_there_and_back(workload: TransformerTraining) -> None:
    m, menus = workload.mappings(8), workload.menus()
    seen = set()
    for row in range(len(m)):
        choice = m.choice(row)
        configuration = Configuration.of_choice(choice, menus)
        again = Configuration.model_validate_json(configuration.model_dump_json())
        assert again == configuration
        assert again.choice(menus) == choice
        assert again.num_devices == m.num_devices[row]
        seen.add(again)
    assert len(seen) == len(m) > 0


def test_choices_are_written_by_name() -> None:
    choice = {name: default for name, (_, default) in CHOICES.items()} | {
        "recompute": 2, "zero": 3, "sequence_parallel": 1, "offload": 5, "interleave": 2, "pipeline": 2,
    }  # fmt: skip
    written = Configuration.of_choice(choice, OPEN.menus())
    assert (written.recompute, written.zero, written.sequence_parallel) == ("full", 3, True)
    assert (written.offload, written.interleave) == ("weights+optimizer", 2)


@pytest.mark.parametrize(
    ("fields", "near"),
    [
        ({"tensor": 2, "data": 2, "block": 2}, {"tensor"}),
        ({"tensor": 2, "data": 2, "block": 4}, {*DIMENSIONS}),
        ({"tensor": 2, "context": 2, "data": 2, "block": 2}, {"tensor"}),
        ({"tensor": 2, "context": 2, "data": 2, "block": 4}, {"tensor", "context"}),
        ({"tensor": 2, "context": 2, "pipeline": 2, "block": 4}, {"tensor", "context", "data"}),
        ({"tensor": 2, "data": 4, "expert": 2, "block": 4}, {"tensor", "expert"}),
        ({"tensor": 2, "data": 2, "expert": 2, "pipeline": 2, "block": 4}, {"tensor", "pipeline"}),
        ({"tensor": 4, "block": 1}, set()),
    ],
)
def test_which_groups_lie_in_one_server(fields: dict[str, Any], near: set[str]) -> None:
    """Among the dimensions that have groups of several ranks."""
    c = Configuration.model_validate(fields)
    ranks = {name: getattr(c, name) for name in DIMENSIONS} | {"data": c.data * c.context}
    several = {name for name in DIMENSIONS if ranks[name] > 1}
    assert {name for name in several if c.is_confined(name)} == near & several


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tensor": 4, "block": 3}, "block 3 must divide the 4 ranks"),
        ({"data": 4, "expert": 3}, "expert 3 must divide data 4"),
        ({"offload": "caches"}, "'caches' is not 'none' or some of weights"),
        ({"zero": 4}, "zero"),
        ({"recompute": "half"}, "recompute"),
        ({"context": 0}, "greater than or equal to 1"),
        ({"stages": 2}, "Extra inputs"),
        ({"data_collective": {"kind": "radix", "radices": (2, 2), "held": (2, 0)}}, "greater than or equal to 1"),
    ],
)
def test_bad_configurations(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Configuration.model_validate(fields)


def test_degrees_in_messages() -> None:
    assert Configuration(tensor=2, data=3).degrees == "tensor 2 x pipeline 1 x data 3 with micro_batch 1"
    many = Configuration(context=2, data=4, expert=2, interleave=3, pipeline=2, micro_batch=8)
    assert many.degrees.endswith("data 4 x context 2 x expert 2 x interleave 3 with micro_batch 8")


def test_a_collective_of_no_plan_is_empty() -> None:
    assert Configuration().tensor_collective == Collective()
