"""planner validate: how far are the predictions from a table of measurements?"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from costmodel.wording import counted
from planner.cli.inputs import AsJson, require_writable
from planner.cli.output import console, number, percent, plain, print_json, table
from planner.cli.outputs import PICTURE
from planner.cli.tables.tables import Kind, before_the_catalog, load_calibration

if TYPE_CHECKING:
    from costmodel.calibrate.asked import RowsOutside
    from costmodel.calibrate.errors import Errors
    from costmodel.calibrate.family import Calibrations
    from costmodel.hardware.device import Device
    from planner.studies.validate import QuantityErrors
    from planner.tables import Measurements

NUM_WORST = 5
FittedOn = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE",
        help="Use curves of this device alone, carried over by published peaks, as for a device without a fit.",
    ),
]
LeaveOut = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Predict the rows of each value of a column, such as model, by a fit on all other rows; or 'halves', "
        "random ones.",
    ),
]
FIGURES = ("rows", "calibrated", "mean", "median", "p90", "worst", "bias")


def validate(
    measured: Annotated[Path, typer.Argument(metavar="TABLE", help="CSV file, one measurement a row.")],
    kind: Kind = None,
    calibration: Annotated[
        list[Path] | None,
        typer.Option(metavar="PART", help="Calibration to use before the catalog's; may be given several times."),
    ] = None,
    fitted_on: FittedOn = None,
    leave_out: LeaveOut = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Predicted over measured, .png or .svg.")] = None,
    as_json: AsJson = False,
    rows: Annotated[bool, typer.Option("--rows", help="Add the prediction of every row to the JSON.")] = False,
) -> int:
    """Predict every row of a table and compare with what was measured.

    Errors are (predicted - measured) / measured: mean, median, 90th percentile and worst of their absolute
    values, and the bias, their signed mean. A row counts as calibrated where its curve was fitted on its very
    device; otherwise the curve comes from a device that it is like, by the peaks of both, or is a typical one.
    Errors on the rows of a fit are smaller than on others, which --leave-out shows: it fits anew, by the code of
    `planner calibrate`, once for each value of the column, or of each half for the other: minutes for serving.
    """
    _require_outputs(plot, as_json=as_json, rows=rows)
    used = before_the_catalog(tuple(load_calibration(path) for path in calibration or ()))
    from planner.studies.validate import to_record, validate_table
    from planner.tables import read_table

    read = read_table(measured, kind)
    _require_column(read, leave_out, fitted_on, calibration)
    quantities = validate_table(read, used, _fitted(fitted_on), leave_out)
    curves = _curves(read, used) if leave_out is None else []
    outside, told = _beyond(read, used) if leave_out is None and fitted_on is None else ([], [])
    _save_plot(plot, read, quantities)
    if as_json:
        records = [to_record(read, quantity, num_worst=NUM_WORST, with_rows=rows) for quantity in quantities]
        head = {"table": str(measured), "kind": read.kind, "rows": len(read), "left_out": leave_out}
        print_json(head | {"curves": curves, "outside_fit": outside, "quantities": records})
    else:
        _show(read, quantities, curves, told, leave_out)
    return 0


def _beyond(read: "Measurements", used: "Calibrations | None") -> tuple[list[dict[str, Any]], list[str]]:
    """Rows outside what their curves were fitted on; in words, with devices whose curves come from elsewhere."""
    from costmodel.calibrate.asked import rows_outside

    outside = rows_outside(read.family, read.columns, used)
    return [asdict(each) for each in outside], [*_elsewhere(read, used), *map(_outside, outside)]


def _save_plot(plot: Path | None, read: "Measurements", quantities: "tuple[QuantityErrors, ...]") -> None:
    if plot is not None:
        from planner.plotting.scatter import save_scatter

        save_scatter(plot, read, quantities)


def _fitted(name: str | None) -> "Device | None":
    """The device whose curves alone are used."""
    if name is None:
        return None
    from costmodel.hardware.device import load_device
    from planner.model.errors import InputError

    try:
        return load_device(name)
    except ValueError as error:
        raise InputError("--fitted-on", "", str(error)) from None


def _require_column(
    read: "Measurements", leave_out: str | None, fitted_on: str | None, calibration: list[Path] | None
) -> None:
    """A column of names whose values can be left out, and no other word on what is fitted."""
    from planner.model.errors import InputError

    if leave_out is None:
        return
    if fitted_on is not None or calibration:
        other = "--fitted-on" if fitted_on is not None else "--calibration"
        raise InputError("--leave-out", "", f"fits anew; leave {other} out")
    names = [*(name for name in read.family.names if name in read.columns), "halves"]
    if leave_out not in names:
        raise InputError("--leave-out", f"'{leave_out}'", f"is no column of names; take one of {', '.join(names)}")


def _require_outputs(plot: Path | None, *, as_json: bool, rows: bool) -> None:
    from planner.model.errors import InputError

    if rows and not as_json:
        raise InputError("--rows", "", "adds to the JSON alone; give --json too")
    if plot is None:
        return
    from planner.plotting import require_matplotlib

    require_writable(plot, "--plot", PICTURE)
    require_matplotlib()


def _show(
    read: "Measurements", quantities: "tuple[QuantityErrors, ...]", curves: list[dict[str, Any]], told: list[str],
    leave_out: str | None,
) -> None:  # fmt: skip
    out = console()
    out.print(f"{plain(str(read.path))}   {read.kind}   {counted(len(read), 'row')}", soft_wrap=True)
    _show_curves(curves)
    for line in told:
        out.print(plain(line), soft_wrap=True)
    if leave_out is not None:
        each = "each half predicted by a fit on the other" if leave_out == "halves" else ""
        out.print(plain(each or f"each {leave_out} predicted by a fit on all others"), style="dim", soft_wrap=True)
    for quantity in quantities:
        out.print()
        _show_quantity(read, quantity)
    if leave_out is None and read.family.fit is not None:
        out.print(plain("errors on rows that no fit saw: --leave-out halves, or --leave-out COLUMN"), style="dim")


def _curves(read: "Measurements", used: "Calibrations | None") -> list[dict[str, Any]]:
    """Curves of the table's devices: what each was fitted on, and how many numbers of the device rows decided."""
    from costmodel.pricing.calibration import load_calibrations
    from planner.studies.validate import curve_origins

    return [
        {
            "device": part.device,
            "numbers_fitted": part.num_fitted(read.kind),
            "source": part.source,
            "origins": {variant: origin.model_dump(mode="json") for variant, origin in origins.items()},
        }
        for part, origins in curve_origins(read, used or load_calibrations())
    ]


def _show_curves(curves: list[dict[str, Any]]) -> None:
    """Where the curves come from; errors on those rows are not those on unseen ones."""
    out = console()
    columns = ("curves of", "numbers fitted", "curve", "software", "date", "rows", "data")
    lines = []
    for each in curves:
        head = [each["device"], f"{each['numbers_fitted']}"]
        for variant, origin in each["origins"].items():
            lines.append([*head, variant, *_origin(origin)])
            head = ["", ""]
    if lines:
        out.print(table(columns, lines, right=("numbers fitted", "rows"), wrap=("software", "data")))
    for each in curves:
        if not each["origins"]:
            out.print(plain(f"{each['device']}: software and date are not recorded; {each['source']}"), soft_wrap=True)


def _outside(each: "RowsOutside") -> str:
    """200 rows outside what bf16 of h100-sxm was fitted on: 65,536 rows of a matrix product (fitted on 1 to 32,768)."""
    rows = counted(each.rows, "row")
    far = ", ".join(far.told for far in each.far)
    return f"{rows} outside what {each.variant} of {each.fitted_on} was fitted on: {far}"


def _elsewhere(read: "Measurements", used: "Calibrations | None") -> list[str]:
    """Devices of the table without a curve of their own, and whose they have."""
    from planner.studies.validate import carried_to

    return [
        f"{device}: carried over from {source}, by the peaks of both"
        if source
        else f"{device}: typical, nothing fitted"
        for device, source in carried_to(read, used)
    ]


def _origin(origin: dict[str, Any]) -> tuple[str, str, str, str]:
    return origin["software"], origin["date"], f"{origin['rows']:,}", origin["data"]


def _show_quantity(read: "Measurements", quantity: "QuantityErrors") -> None:
    from planner.studies.validate import row_record

    out = console()
    left_out = f"{quantity.num_left_out:,} left out"
    if quantity.num_left_out:
        left_out += f": {quantity.why_left_out}"
    kept = f"{len(read) - quantity.num_left_out:,} rows predicted, {left_out}"
    out.print(plain(f"{quantity.series.quantity}   {kept}"), soft_wrap=True)
    if quantity.all is None:
        return
    lines = [("all", *figures(quantity.all))]
    if len(quantity.groups) > 1:
        lines += [(group.name, *figures(group.errors)) for group in quantity.groups]
    out.print(table(("group", *FIGURES), lines, right=FIGURES))
    if quantity.rank_correlation is not None:
        out.print(f"rank correlation {quantity.rank_correlation:.4f}")
    if quantity.series.note:
        out.print(quantity.series.note)
    worst = [row_record(read, quantity, row) for row in quantity.worst(NUM_WORST)]
    out.print(_worst_table(worst, quantity.series.unit))


def figures(errors: "Errors") -> tuple[str, ...]:
    """Cells of one line of errors, in the order of FIGURES."""
    calibrated = {0: "no", errors.rows: "yes"}.get(errors.calibrated_rows, f"{errors.calibrated_rows:,}")
    sizes = (errors.mean, errors.median, errors.p90, errors.worst)
    return (f"{errors.rows:,}", calibrated, *(percent(size) for size in sizes), f"{100 * errors.bias:+.1f} %")


def _worst_table(records: list[dict[str, object]], unit: str) -> object:
    """The inputs of the rows with the largest errors, what was measured and what was predicted."""
    given = [name for name in records[0] if name not in ("measured", "predicted", "relative_error", "calibrated")]
    columns = ("worst at line", *given[1:], f"predicted, {unit}", f"measured, {unit}", "error")
    lines = []
    for record in records:
        error = record["relative_error"]
        assert isinstance(error, float)
        cells = [_cell(record[name]) for name in (*given, "predicted", "measured")]
        lines.append([*cells, f"{100 * error:+.1f} %"])
    words = {name for name in given if isinstance(records[0][name], str)}
    return table(columns, lines, right=[name for name in columns if name not in words])


def _cell(value: object) -> str:
    return number(value) if isinstance(value, float) else "-" if value is None else str(value)
