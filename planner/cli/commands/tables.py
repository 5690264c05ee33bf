"""planner tables: tables of measurements from checkouts of public repositories."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.exits import EXIT_CODES
from planner.cli.inputs import require_writable
from planner.cli.outputs import MEASUREMENTS
from planner.model.errors import InputError

Output = Annotated[Path, typer.Option("--output", "-o", metavar="CSV", help="Table to write.")]
Checkout = Annotated[Path, typer.Argument(metavar="CHECKOUT", help="Folder of the repository.")]

tables = typer.Typer(
    help="Make the tables that `planner validate` judges from checkouts of public repositories.", no_args_is_help=True
)


@tables.command(epilog=EXIT_CODES)
def mlperf(
    checkout: Checkout,
    output: Output,
    recipes: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Degrees of parallelism by system and benchmark, from configuration files."),
    ] = None,
) -> int:
    """Training steps of a repository mlcommons/training_results_v*: times between evaluations, by system."""
    from costmodel.calibrate.public_tables import mlperf_rows, read_recipes

    return _write(output, lambda: mlperf_rows(checkout, read_recipes(recipes)))


@tables.command(epilog=EXIT_CODES)
def aiconfigurator(
    checkout: Checkout,
    output: Output,
    table: Annotated[
        Literal["gemm", "attention_context", "attention_generation", "nccl", "serving"],
        typer.Option(help="Kernels to take, collectives of NCCL, or serving of whole models."),
    ] = "gemm",
    devices: Annotated[str, typer.Option(metavar="A,B", help="Folders of devices.")] = "a100_sxm,h100_sxm",
    framework: Annotated[str, typer.Option(help="Kernels: folder of a framework.")] = "trtllm",
    release: Annotated[
        str | None, typer.Option(help="Kernels and collectives: folder of a version; the newest unless given.")
    ] = None,
) -> int:
    """Latencies of kernels, collectives and serving in ai-dynamo/aiconfigurator.

    CHECKOUT is the repository after `git lfs pull`, or its package 0.10.0 of PyPI, unpacked; later ones lack them.
    """
    from costmodel.calibrate.aiconfigurator_tables import collective_rows, kernel_rows, serving_rows

    places = devices.split(",")
    if table == "nccl":
        return _write(output, lambda: collective_rows(checkout, places, release))
    if table == "serving" and release is not None:
        raise InputError(
            "tables", "--release", "goes with kernels and collectives; serving is one file of all releases"
        )
    if table == "serving":
        return _write(output, lambda: serving_rows(checkout, places))
    return _write(output, lambda: kernel_rows(checkout, table, places, framework, release))


def _write(output: Path, rows: Any) -> int:
    from costmodel.calibrate.public_tables import TableError, write

    require_writable(output, "--output", MEASUREMENTS)
    try:
        found: Iterable[Any] = list(rows())
        write(list(found), output)
    except TableError as error:
        raise InputError("tables", "CHECKOUT", str(error)) from None
    except ValueError as error:
        raise InputError("tables", "CHECKOUT", f"has a table with a cell that is no number: {error}") from None
    except OSError as error:
        raise InputError(str(error.filename), "", f"cannot be read or written: {error.strerror}") from None
    print(f"wrote {counted(len(list(found)), 'row')} into {output}")
    return exits.PLAN
