"""Errors that name an argument of a function of the package, told by the option that gives it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from planner.model.errors import InputError

OPTIONS = {"policies": "--policies", "clusters": "--cluster", "workers": "--processes"}
"""by the argument that they give"""


@contextmanager
def naming_options(options: Mapping[str, str] = OPTIONS) -> Iterator[None]:
    """InputError about one of these arguments is raised again with the option; any other as it is."""
    try:
        yield
    except InputError as error:
        if error.where not in options:
            raise
        raise type(error)(options[error.where], error.field, error.problem) from None
