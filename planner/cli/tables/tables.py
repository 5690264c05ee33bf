"""Options that the commands on tables of measurements share, and the calibrations they are given."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from os import pathsep
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.model.errors import InputError

if TYPE_CHECKING:
    from costmodel.pricing.calibration import Calibration
    from planner.tables import Measurements

KINDS = (
    "gemm, nccl, attention_context, attention_generation, serving, training, network_training, power, kernel_power "
    "or calculon"
)
Kind = Annotated[
    str | None,
    typer.Option("--kind", metavar="KIND", help=f"{KINDS}; by the columns, then the file's name, unless given."),
]


def load_calibration(path: Path) -> "Calibration":
    """A calibration file whose device, families and numbers are all known."""
    from costmodel.calibrate import CURVES
    from costmodel.hardware.device import load_device
    from costmodel.pricing.calibration import Calibration
    from planner.model.files import load, validate

    if not path.exists():
        raise InputError(str(path), "", "does not exist; `planner calibrate TABLES -o part.json` writes one")
    part = load(Calibration, path)
    try:
        load_device(part.device)
    except ValueError as error:
        raise InputError(str(path), "device", str(error)) from None
    for family, variants in part.families.items():
        if family not in CURVES:
            known = ", ".join(CURVES)
            raise InputError(str(path), f"families.{family}", f"is no family of kernels; known: {known}")
        for variant, numbers in variants.items():
            validate(CURVES[family], numbers, f"{path}: families.{family}.{variant}")
    return part


def require_own_calibrations() -> None:
    """InputError for a file of the user's that the environment names and that is no calibration."""
    from costmodel.catalog import OWN_CALIBRATIONS, own_calibrations

    for path in own_calibrations():
        if not path.exists():
            beside = sorted(map(str, path.parent.glob(f"{escape(path.stem)}.*{escape(path.suffix)}")))
            remedy = f"`planner calibrate TABLES -o {path}` writes it; or unset {OWN_CALIBRATIONS}, which names it"
            if beside:
                remedy = f"of several devices each has a file: set {OWN_CALIBRATIONS} to {pathsep.join(beside)}"
            raise InputError(str(path), "", f"does not exist; {remedy}")
        load_calibration(path)


def before_the_catalog(given: "tuple[Calibration, ...]") -> "tuple[Calibration, ...] | None":
    """Calibrations given by the user, then the catalog's; None where none is given."""
    from costmodel.pricing.calibration import load_calibrations

    return (*given, *load_calibrations()) if given else None


@contextmanager
def naming_tables(tables: "Sequence[Measurements]") -> Iterator[None]:
    """Errors of a fit become bad input that names the tables; a missing scipy becomes its remedy."""
    names = ", ".join(str(table.path) for table in tables)
    try:
        yield
    except ModuleNotFoundError as error:
        problem = f"{error.name} is not installed; run `pip install '.[calibrate]'`"
        raise InputError("calibrate", "", problem) from None
    except ValueError as error:
        raise InputError(names, "", str(error)) from None
