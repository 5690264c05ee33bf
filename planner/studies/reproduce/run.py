"""Compute published experiments and judge each of their figures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from costmodel.spec import Spec
from planner.model.errors import InputError
from planner.model.files import validate
from planner.studies.reproduce.experiments import find_experiment
from planner.studies.reproduce.published import Published, read
from planner.studies.reproduce.rows import PublishedRow, judge


@dataclass(frozen=True)
class ExperimentOutcome:
    """One experiment, computed."""

    name: str
    """of the file, without its suffix"""
    published: Published
    inputs: Spec
    quantities: dict[str, float]
    """what the experiment returned, in SI"""
    rows: tuple[PublishedRow, ...]


def reproduce(paths: Iterable[Path]) -> Iterator[ExperimentOutcome]:
    """Outcomes in the order of the files, each computed when it is asked for."""
    for path in paths:
        yield reproduce_file(path)


def reproduce_file(path: Path) -> ExperimentOutcome:
    """One experiment; InputError names the file and the field that is wrong."""
    published = read(path)
    try:
        experiment = find_experiment(published.kind)
    except ValueError as error:
        raise InputError(str(path), "kind", str(error)) from None
    inputs = validate(experiment.inputs, published.inputs, f"{path}: inputs")
    try:
        quantities = experiment.compute(inputs)
    except ValueError as error:
        raise InputError(str(path), "inputs", str(error)) from None
    return ExperimentOutcome(path.stem, published, inputs, quantities, tuple(_rows(path, published, quantities)))


def _rows(path: Path, published: Published, quantities: dict[str, float]) -> Iterator[PublishedRow]:
    for figure in published.published:
        try:
            yield judge(published.paper, path.stem, figure, quantities)
        except ValueError as error:
            raise InputError(str(path), f"published[{figure.quantity}]", str(error)) from None
