"""Errors of the cost model, told as those of a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.model.instance import Instance


@contextmanager
def naming(path: str | Path, instance: "Instance") -> Iterator[None]:
    """Errors of the cost model become bad input that names the file and the job; those of an option stay."""
    try:
        yield
    except InputError as error:
        if error.where == str(path) or error.where.startswith("--"):
            raise
        field = f"{error.where}.{error.field}" if error.field else error.where
        raise InputError(str(path), field, error.problem) from None
    except ValueError:
        from planner.candidates.expand import list_options

        for job in instance.all_jobs:
            try:
                list_options(instance, job)
            except ValueError as error:
                kind = "residents" if job in instance.residents else "jobs"
                raise InputError(str(path), f"{kind}[{job.name}].workload", str(error)) from None
        raise
