"""How the figures of a memory study depend on what is not published: each input changed alone."""

from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from costmodel.dataflow.streams.memory_study import load_memory_study
from costmodel.spec import Spec
from planner.studies.reproduce.experiments.memory_runs import StudyName, StudyRuns


class Inputs(Spec):
    """A study of the catalog, and keys of its file to replace."""

    study: StudyName
    variants: dict[str, dict[str, Any]] = Field(min_length=1)
    """by label"""

    @model_validator(mode="after")
    def _variants_are_studies(self) -> Self:
        for label, changes in self.variants.items():
            try:
                load_memory_study(self.study).with_changes(changes)
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"]))
                raise ValueError(f"variants: '{label}' is no study: {place} {first['msg']}") from None
        return self


def compute(inputs: Inputs) -> dict[str, float]:
    """Headline figures of the study, and of each variant with its label."""
    study = load_memory_study(inputs.study)
    found = dict(StudyRuns(study).headline)
    for label, changes in inputs.variants.items():
        varied = StudyRuns(study.with_changes(changes)).headline
        found |= {f"{name}, {label}": value for name, value in varied.items()}
    return found
