"""planner calibrate --measure: tables of this machine's GPU."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from planner.cli import exits
from planner.cli.output import console, plain
from planner.model.errors import InputError

DEFAULT_FOLDER = Path("measured")
NOT_FITTED = {"copies", "kernel_power", "network_training"}
"""tables that no curve is fitted on"""


def measure_into(tables: list[Path] | None, output: Path | None, *, is_quick: bool) -> int:
    """Measure with a progress bar; Ctrl-C keeps the rows measured so far."""
    if tables:
        raise InputError("--measure", "", "makes tables and reads none; leave out the tables")
    folder = output or DEFAULT_FOLDER
    if folder.exists() and not folder.is_dir():
        raise InputError(str(folder), "--output", "is a file; with --measure name a folder")
    from costmodel.measure import NoDeviceError, detect, measure

    out = console()
    try:
        device = detect()
        out.print(plain(f"measuring {device.full_name} as {device.name} into {folder}"), soft_wrap=True)
        with _progress() as on_case:
            outcomes = measure(folder, device, is_quick=is_quick, on_case=on_case)
    except KeyboardInterrupt:
        out.print(plain(f"stopped; rows measured so far are in {folder}"), soft_wrap=True)
        return exits.INTERRUPTED
    except NoDeviceError as error:
        raise InputError("--measure", "", str(error)) from None
    except OSError as error:
        raise InputError("--output", "", str(error)) from None
    for outcome in outcomes:
        skipped = f", {outcome.num_skipped:,} skipped: {outcome.why_skipped}" if outcome.num_skipped else ""
        out.print(plain(f"{outcome.path}   {outcome.num_measured:,} rows{skipped}"), soft_wrap=True)
    fitted = [str(outcome.path) for outcome in outcomes if outcome.num_measured and outcome.path.stem not in NOT_FITTED]
    missing = "" if device.is_in_catalog else f"{device.name} is not in the catalog: add a device part with it; then "
    out.print(plain(f"{missing}fit with: planner calibrate {' '.join(fitted)} -o part.json"), soft_wrap=True)
    out.print(plain(f"compare power with: planner validate {folder / 'kernel_power.csv'}"), soft_wrap=True)
    return exits.PLAN


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<22}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def on_case(table: str, done: int, total: int) -> None:
            bar.update(task, description=table, completed=done, total=total)

        yield on_case
