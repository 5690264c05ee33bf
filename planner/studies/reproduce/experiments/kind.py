"""Kind of an experiment: its inputs, and a function of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from costmodel.spec import Spec


@dataclass(frozen=True)
class Experiment:
    """A kind of experiment."""

    inputs: type[Spec]
    """what `inputs` of a file must hold"""
    compute: Callable[[Any], dict[str, float]]
    """inputs -> quantities in SI by name; figures name them"""
