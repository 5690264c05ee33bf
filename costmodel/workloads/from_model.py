"""A workload from a model and a few numbers, such as a command line gives; the table of what models there are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from costmodel.catalog import unknown_name
from costmodel.dataflow.networks.convolutional import KIND, ConvolutionalNetwork, load_convolutional_network
from costmodel.dataflow.networks.recurrent import RecurrentLayer
from costmodel.hardware.device import Precision
from costmodel.hardware.parts import part_names
from costmodel.spec import Spec
from costmodel.workloads import Dlrm, NetworkTraining, TransformerInference, TransformerTraining, Workload
from costmodel.workloads.dlrm.recommenders import DlrmShape, load_recommender, recommender_names
from costmodel.workloads.transformer.shapes import TransformerShape, load_model, model_names


@dataclass(frozen=True)
class WorkloadChoices:
    """Phase, precision and sizes of a workload; each kind of model reads what concerns it."""

    phase: Literal["training", "inference"]
    precision: Precision
    batch: int
    sequence: int
    concurrency: int
    input_tokens: int
    output_tokens: int
    backend: str = "generic"
    """software that serves"""


class ModelKind(NamedTuple):
    """Models of one kind: published ones by name, the shape that a file gives, and what runs them."""

    names: Callable[[], Iterable[str]]
    load: Callable[[str], Any]
    shape: type[Spec]
    workload: Callable[[Any, WorkloadChoices], Workload]


def _transformer(model: str | TransformerShape, choices: WorkloadChoices) -> Workload:
    shape = load_model(model) if isinstance(model, str) else model
    if choices.phase == "training":
        return TransformerTraining(
            model=model, global_batch=choices.batch, sequence=choices.sequence, precision=choices.precision
        )
    if not shape.causal:
        raise ValueError(
            "an encoder writes no tokens; give a model that does; `planner score --phase training` prices it"
        )
    return TransformerInference(
        model=model,
        concurrency=choices.concurrency,
        input_tokens=choices.input_tokens,
        output_tokens=choices.output_tokens,
        precision=choices.precision,
        backend=choices.backend,
    )


def _recommender(model: str | DlrmShape, choices: WorkloadChoices) -> Workload:
    return Dlrm(mode=choices.phase, model=model, batch=choices.batch, precision=choices.precision)


def _network(model: str | ConvolutionalNetwork | RecurrentLayer, choices: WorkloadChoices) -> Workload:
    if choices.phase == "inference":
        raise ValueError(
            "convolutional and recurrent networks are only trained; `planner score --phase training` prices them"
        )
    return NetworkTraining(model=model, global_batch=choices.batch, precision=choices.precision)


def _unpublished(name: str) -> RecurrentLayer:
    raise ValueError(f"no recurrent layer is published as '{name}'; write its sizes in a file")


MODEL_KINDS = (
    ModelKind(model_names, load_model, TransformerShape, _transformer),
    ModelKind(recommender_names, load_recommender, DlrmShape, _recommender),
    ModelKind(lambda: part_names(KIND), load_convolutional_network, ConvolutionalNetwork, _network),
    ModelKind(tuple[str, ...], _unpublished, RecurrentLayer, _network),
)


def workload_of_name(name: str, choices: WorkloadChoices) -> Workload:
    """A published model at work; ValueError names the nearest ones where it is unknown."""
    for kind in MODEL_KINDS:
        try:
            kind.load(name)
        except ValueError:
            continue
        return kind.workload(name, choices)
    raise unknown_name("model", name, [known for kind in MODEL_KINDS for known in kind.names()])


def kind_of_shape(keys: Iterable[str]) -> ModelKind:
    """The kind of model whose sizes have most of these keys."""
    given = set(keys)
    return max(MODEL_KINDS, key=lambda kind: len(given & kind.shape.model_fields.keys()))
