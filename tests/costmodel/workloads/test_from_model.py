"""Models by name and by the sizes of a file, and which choices each kind reads."""

import pytest

from costmodel.dataflow.networks.convolutional import KIND, load_convolutional_network
from costmodel.hardware.parts import part_names
from costmodel.workloads import Dlrm, NetworkTraining, TransformerInference, TransformerTraining
from costmodel.workloads.dlrm.recommenders import load_recommender, recommender_names
from costmodel.workloads.from_model import MODEL_KINDS, WorkloadChoices, kind_of_shape, workload_of_name
from costmodel.workloads.transformer.shapes import load_model, model_names


def choices(phase: str = "training") -> WorkloadChoices:
    numbers = {"batch": 64, "sequence": 2048, "concurrency": 16, "input_tokens": 300, "output_tokens": 70}
    return WorkloadChoices(phase=phase, precision="fp8", **numbers)  # type: ignore[arg-type]


def test_each_kind_reads_what_concerns_it() -> None:
    trained = workload_of_name("llama-3.1-8b", choices())
    assert trained == TransformerTraining(model="llama-3.1-8b", global_batch=64, sequence=2048, precision="fp8")
    served = workload_of_name("llama-3.1-8b", choices("inference"))
    assert served == TransformerInference(
        model="llama-3.1-8b", concurrency=16, input_tokens=300, output_tokens=70, precision="fp8"
    )
    for phase in ("training", "inference"):
        found = workload_of_name("dlrm-dcnv2", choices(phase))
        assert isinstance(found, Dlrm)
        assert (found.mode, found.batch, found.precision) == (phase, 64, "fp8")


def test_networks_are_trained_alone() -> None:
    trained = workload_of_name("vgg-e", choices())
    assert trained == NetworkTraining(model="vgg-e", global_batch=64, precision="fp8")
    with pytest.raises(ValueError, match="only trained; `planner score --phase training` prices"):
        workload_of_name("vgg-e", choices("inference"))


def test_an_encoder_is_trained_and_writes_nothing() -> None:
    assert workload_of_name("bert-large", choices()).kind == "transformer_training"
    with pytest.raises(ValueError, match="an encoder writes no tokens"):
        workload_of_name("bert-large", choices("inference"))


@pytest.mark.parametrize(("wrong", "meant"), [("lama-3.1-8b", "llama-3.1-8b"), ("dlrm-dcnv3", "dlrm-dcnv2")])
def test_a_wrong_name_is_compared_with_models_of_all_kinds(wrong: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"unknown model '{wrong}'; did you mean {meant}"):
        workload_of_name(wrong, choices())


def test_sizes_of_every_published_model_tell_its_kind() -> None:
    transformers, recommenders, convolutional, recurrent = MODEL_KINDS
    for kind, names, load in (
        (transformers, model_names(), load_model), (recommenders, recommender_names(), load_recommender),
        (convolutional, part_names(KIND), load_convolutional_network),
    ):  # fmt: skip
        assert {*kind.names()} == {*names}
        for name in names:
            assert kind_of_shape(load(name).model_dump(exclude_defaults=True)) is kind
    assert kind_of_shape({"cell": "lstm", "hidden": 512, "steps": 25}) is recurrent


def test_the_shape_of_a_file_runs_as_its_name_does() -> None:
    transformers, shape = MODEL_KINDS[0], load_model("llama-3.1-8b")
    found = transformers.workload(shape, choices())
    assert found.model_copy(update={"model": "llama-3.1-8b"}) == workload_of_name("llama-3.1-8b", choices())
    assert found.model == shape
