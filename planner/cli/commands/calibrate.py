"""planner calibrate: tables of measurements -> the few efficiency parameters of a catalog part."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.inputs import AsJson, require_writable, write_text
from planner.cli.output import console, percent, plain, print_json, quantity, table
from planner.cli.outputs import CALIBRATION
from planner.cli.tables.tables import Kind, load_calibration, naming_tables
from planner.model.errors import InputError

if TYPE_CHECKING:
    from costmodel.calibrate.family import Ablation, Family, Fit
    from costmodel.pricing.calibration import Calibration
    from planner.tables import Measurements

Fits = dict[str, "Fit"]
"""by family"""
UNITS = {"_bytes_per_s": "B/s", "_flops_per_s": "FLOP/s", "_per_s": "/s", "_bytes": "B", "_s": "s"}


Tables = Annotated[list[Path] | None, typer.Argument(metavar="TABLES...", help="CSV files, one measurement a row.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="File to write; with several devices part.json becomes part.DEVICE.json. With --measure a folder.",
    ),
]


def calibrate(
    tables: Tables = None,
    output: Output = None,
    kind: Kind = None,
    source: Annotated[str, typer.Option(metavar="TEXT", help="What was measured, for the file.")] = "",
    software: Annotated[str, typer.Option(metavar="TEXT", help="What ran, with its version; with --date.")] = "",
    date: Annotated[str, typer.Option(metavar="YYYY-MM", help="When it was measured; with --software.")] = "",
    ablation: Annotated[bool, typer.Option("--ablation", help="Leave out each term in turn and judge again.")] = False,
    measure: Annotated[bool, typer.Option("--measure", help="Measure the GPU of this machine instead.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Measure fewer shapes, in about two minutes.")] = False,
    as_json: AsJson = False,
) -> int:
    """Fit the curves of the cost model to measurements, or make the measurements.

    Writes one calibration file for each device in the tables; curves of other families that a file already
    holds are kept. `planner validate --calibration` judges a file; all commands price by those that the
    environment variable PLANNER_CALIBRATIONS names, joined as PATH is. --ablation refits without each term on
    half of the rows and judges on the other half: a term earns its place where the error without it is larger.
    --measure writes tables of matrix products, attention, copies and power on the first CUDA device, into
    measured/ unless -o names a folder.
    """
    if measure:
        from planner.cli.commands.measure import measure_into

        return measure_into(tables, output, is_quick=quick)
    paths, target = _require_arguments(tables, output, is_quick=quick)
    _require_origin(software, date)
    told = source, software, date
    files, parts, fits, studies = _fit_tables(paths, target, kind, told, with_ablations=ablation)
    if as_json:
        print_json(_document(files, parts, fits, studies))
    else:
        _show(files, parts, fits, studies)
    return 0


def _fit_tables(
    paths: list[Path], target: Path, kind: str | None, told: tuple[str, str, str], *, with_ablations: bool
) -> "tuple[dict[str, str], dict[str, Calibration], Fits, list[Ablation]]":
    """Files written by device, the fitted curves alone, the fits, and the ablations."""
    from costmodel.calibrate.parts import merged, parts_of
    from planner.tables import read_table

    read = _by_kind([read_table(path, kind) for path in paths])
    places = _places(read, target)
    fits = {_family(own).name: _fit(own) for own in read.values()}
    parts = parts_of(fits, *told)
    for device, part in parts.items():
        path, old = places[device]
        write_text(path, _text(part if old is None else merged(old, part)))
    studies = [row for own in read.values() for row in _ablations(own)] if with_ablations else []
    return {device: str(places[device][0]) for device in parts}, parts, fits, studies


def _require_origin(software: str, date: str) -> None:
    if bool(software) != bool(date):
        raise InputError("--software, --date", "", "belong together; give both, or neither")
    from costmodel.pricing.calibration import DATE_PATTERN

    if date and not re.fullmatch(DATE_PATTERN, date):
        raise InputError("--date", f"'{date}'", "is no date; write 2025-11, or 2025-06 to 2025-11")


def _require_arguments(tables: list[Path] | None, output: Path | None, *, is_quick: bool) -> tuple[list[Path], Path]:
    if not tables:
        raise InputError("TABLES", "", "no table is given; name CSV files, or measure this machine with --measure")
    if is_quick:
        raise InputError("--quick", "", "belongs to --measure; leave it out, or give --measure instead of tables")
    if output is None:
        raise InputError("--output", "", "is missing; name the file to write, such as -o part.json")
    require_writable(output, "--output", CALIBRATION)
    return tables, output


def _by_kind(read: Iterable["Measurements"]) -> dict[str, list["Measurements"]]:
    """Tables of one kind are fitted together."""
    found: dict[str, list[Measurements]] = {}
    for each in read:
        if each.family.fit is None:
            raise InputError(
                str(each.path), "", f"nothing is fitted to tables of kind {each.kind}; validate it instead"
            )
        found.setdefault(each.kind, []).append(each)
    return found


def _family(tables: Sequence["Measurements"]) -> "Family":
    return tables[0].family


def _places(read: dict[str, list["Measurements"]], target: Path) -> "dict[str, tuple[Path, Calibration | None]]":
    """Device -> the file to write, and the calibration that it holds already."""
    from costmodel.hardware.device import load_device

    names = {str(name) for own in read.values() for each in own for name in each.columns["device"]}
    devices = sorted({load_device(name).name for name in names})
    places = {}
    for device in devices:
        path = target if len(devices) == 1 else target.with_name(f"{target.stem}.{device}{target.suffix}")
        require_writable(path, "--output", CALIBRATION)
        old = load_calibration(path) if path.exists() else None
        if old is not None and old.device != device:
            raise InputError(str(path), "device", f"holds curves of {old.device}, not of {device}; choose another file")
        places[device] = path, old
    return places


def _fit(tables: Sequence["Measurements"]) -> "Fit":
    from planner.tables import concatenate

    fit = _family(tables).fit
    assert fit is not None
    _announce(f"fitting {tables[0].kind} to {sum(map(len, tables)):,} rows")
    with naming_tables(tables):
        return fit(concatenate(tables))


def _ablations(tables: Sequence["Measurements"]) -> "tuple[Ablation, ...]":
    from planner.tables import concatenate

    study = _family(tables).ablations
    if study is None:
        return ()
    _announce(f"leaving out each term of {tables[0].kind} in turn")
    with naming_tables(tables):
        return study(concatenate(tables))


def _announce(text: str) -> None:
    """Say on a terminal what runs now."""
    out = console(stderr=True)
    if out.is_terminal:
        out.print(plain(f"{text} ..."), style="dim")


def _text(part: "Calibration") -> str:
    import json

    return json.dumps(part.model_dump(mode="json", by_alias=True), indent=2) + "\n"


def _document(
    files: dict[str, str], parts: "dict[str, Calibration]", fits: Fits, studies: "Sequence[Ablation]"
) -> dict[str, Any]:
    return {
        "files": files,
        "curves": [
            {
                "device": device,
                "family": family,
                "variant": variant,
                **_fitted(fits[family], device, variant),
                "numbers": numbers,
            }
            for device, part in parts.items()
            for family, variants in part.families.items()
            for variant, numbers in variants.items()
        ],
        "ablations": [vars(study) for study in studies],
    }


def _fitted(fit: "Fit", device: str, variant: str) -> dict[str, Any]:
    """Rows and mean error of a curve; a fit may name its device by an alias."""
    from costmodel.hardware.device import load_device

    keys = {(load_device(name).name, kind): (name, kind) for name, kind in fit.curves}
    key = keys[device, variant]
    return {"rows": fit.rows.get(key), "mean_error": fit.mean_error[key]}


def _show(files: dict[str, str], parts: "dict[str, Calibration]", fits: Fits, studies: "Sequence[Ablation]") -> None:
    out = console()
    for curve in _document(files, parts, fits, studies)["curves"]:
        rows = f"{curve['rows']:,} rows, " if curve["rows"] is not None else ""
        error = f"{rows}mean error {percent(curve['mean_error'])}"
        out.print(plain(f"{curve['device']}   {curve['family']} {curve['variant']}   {error}"), soft_wrap=True)
        out.print(_number_table(curve["family"], curve["numbers"]))
        out.print()
    if studies:
        out.print(_study_table(studies))
        out.print()
    for device, path in files.items():
        out.print(plain(f"{device} written to {path}"), soft_wrap=True)


def _study_table(studies: "Sequence[Ablation]") -> object:
    columns = ("device", "curve", "left out", "numbers", "mean error on unseen rows")
    lines = [
        (study.device, study.variant, study.term or "nothing", str(study.num_parameters), percent(study.mean_error))
        for study in studies
    ]
    return table(columns, lines, right=columns[3:])


def _number_table(family: str, numbers: dict[str, float]) -> object:
    """Each fitted number with its meaning, which the curve's type tells; files may leave the unit out of a key."""
    from costmodel.calibrate import CURVES
    from costmodel.field_docstrings import field_descriptions

    fields = CURVES[family].model_fields if family in CURVES else {}
    meanings = field_descriptions(CURVES[family]) if family in CURVES else {}
    name_of = {field.alias or name: name for name, field in fields.items()} | {name: name for name in fields}
    lines = []
    for key, value in numbers.items():
        name = name_of.get(key, key)
        lines.append((name, _number(name, value), " ".join(meanings.get(name, "").split())))
    return table(("number", "fitted", "meaning"), lines, right=("fitted",), wrap=("meaning",))


def _number(name: str, value: float) -> str:
    unit = next((unit for suffix, unit in UNITS.items() if name.endswith(suffix)), None)
    return f"{value:.4g}" if unit is None else quantity(value, unit)
