"""python -m costmodel.measure: measure this machine's GPU where the planner itself is not installed."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from costmodel.measure import NoDeviceError, detect, measure

BAD_INPUT, INTERRUPTED = 2, 130
LINE_EVERY_S = 5.0
"""between lines of progress where nobody watches a terminal"""


def main(arguments: Sequence[str] | None = None) -> int:
    """0 after all tables, 2 where nothing can be measured, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m costmodel.measure", description=__doc__)
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, default=Path("measured"), help="folder of the tables"
    )
    parser.add_argument("--quick", action="store_true", help="fewer shapes, in about two minutes")
    options = parser.parse_args(arguments)
    try:
        device = detect()
        print(f"measuring {device.full_name} as {device.name} into {options.output}", file=sys.stderr)
        outcomes = measure(options.output, device, is_quick=options.quick, on_case=progress())
    except KeyboardInterrupt:
        print(f"\nstopped; rows measured so far are in {options.output}", file=sys.stderr)
        return INTERRUPTED
    except (NoDeviceError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    for outcome in outcomes:
        skipped = f", {outcome.num_skipped} skipped: {outcome.why_skipped}" if outcome.num_skipped else ""
        print(f"{outcome.path}: {outcome.num_measured} rows{skipped}")
    return 0


def progress() -> Callable[[str, int, int], None]:
    """A bar on a terminal, else a line now and then, on stderr."""
    is_terminal, last_s, started_s = sys.stderr.isatty(), 0.0, time.monotonic()

    def on_case(table: str, done: int, total: int) -> None:
        nonlocal last_s
        now_s = time.monotonic()
        is_due = now_s - last_s > (0.1 if is_terminal else LINE_EVERY_S)
        if not is_due and done < total:
            return
        last_s = now_s
        left_s = (now_s - started_s) / done * (total - done)
        bar = "#" * (30 * done // total)
        text = f"[{bar:<30}] {done}/{total} {table:<20} about {left_s:.0f} s left"
        print(f"\r{text}" if is_terminal else text, end="" if is_terminal and done < total else "\n", file=sys.stderr)
        sys.stderr.flush()

    return on_case


if __name__ == "__main__":
    sys.exit(main())
