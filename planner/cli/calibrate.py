"""planner calibrate: tables of measurements -> the few efficiency parameters of a catalog part."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.inputs import AsJson, require_writable, write_text
from planner.cli.output import console, number, percent, plain, print_json, table
from planner.cli.tables import Kind, load_calibration
from planner.errors import InputError

if TYPE_CHECKING:
    from costmodel.calibrate.family import Ablation, Fit
    from costmodel.calibration import Calibration
    from planner.tables import Measurements


def calibrate(
    tables: Annotated[
        list[Path] | None, typer.Argument(metavar="TABLES...", help="CSV files, one measurement a row.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="PATH",
            help="File to write; of several devices part.json becomes part.DEVICE.json. With --measure a folder.",
        ),
    ] = None,
    kind: Kind = None,
    source: Annotated[str, typer.Option(metavar="TEXT", help="What was measured, for the file.")] = "",
    ablation: Annotated[bool, typer.Option("--ablation", help="Leave out each term in turn and judge again.")] = False,
    measure: Annotated[bool, typer.Option("--measure", help="Measure the GPU of this machine instead.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Measure fewer shapes, in about two minutes.")] = False,
    as_json: AsJson = False,
) -> int:
    """Fit the curves of the cost model to measurements, or make the measurements.

    Writes one calibration file for each device in the tables; curves of other families that the file already
    holds are kept. Hand it to `planner validate --calibration`, or put it into the catalog. --ablation refits
    without each term on half of the rows and judges on the other half: a term earns its place where the error
    without it is larger. --measure writes tables of matrix products, attention and copies on the first CUDA
    device, into measured/ unless -o names a folder.
    """  # fmt: skip
    if measure:
        from planner.cli.measure import measure_into

        return measure_into(tables or [], output, is_quick=quick)
    paths = _require_arguments(tables, output, quick=quick)
    from planner.tables import read_table

    read = [read_table(path, kind) for path in paths]
    families = _fittable(read)
    fits = {name: _fit(own) for name, own in families.items()}
    studies = {name: _ablations(own) for name, own in families.items()} if ablation else {}
    from costmodel.calibrate.parts import parts_of

    parts = {device: (path, part) for path, device, part in _placed(parts_of(fits, source), output or Path())}
    for path, part in parts.values():
        write_text(path, _text(part))
    if as_json:
        print_json(_document(parts, fits, studies))
    else:
        _show(parts, fits, studies)
    return 0
