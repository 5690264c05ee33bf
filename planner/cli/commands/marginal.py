"""planner marginal: what one more of each part would add."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.cli import exits
from planner.cli.inputs import AsJson, InstancePath, Seed, Threads, TimeLimit, naming
from planner.cli.output import console, number, print_json, table

if TYPE_CHECKING:
    from planner.explain.marginal import Marginal


def marginal(
    instance: InstancePath,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: AsJson = False,
) -> int:
    """Show what one more fiber, server or peer, a faster switch or a repair would add to the value.

    Each answer is a solve of the changed instance; all share the time limit. Ctrl-C ends with the answers that are
    there, Ctrl-C again quits.
    """
    from planner.cli.interrupt import stop_on_interrupt
    from planner.cli.progress import telling
    from planner.explain.marginal import marginal as gains
    from planner.model.instance import Instance
    from planner.model.result import SolveOptions

    loaded = Instance.load(instance)
    tell, total = telling("changes"), 0

    def on_change(done: int, of: int) -> None:
        nonlocal total
        total = of
        tell(done, of, None)

    with naming(instance, loaded), stop_on_interrupt("the answers so far") as is_asked:
        options = SolveOptions(time_limit_s=time_limit, seed=seed, workers=threads, should_stop=is_asked)
        found = gains(loaded, time_limit_s=time_limit, options=options, on_change=on_change)
    print_json([vars(each) for each in found]) if as_json else _show(found)
    if len(found) == total:
        return exits.PLAN
    print(f"stopped: {len(found)} of {total} changes are answered", file=sys.stderr)
    return exits.INTERRUPTED


def _show(found: "Sequence[Marginal]") -> None:
    rows = [(each.change, _gain(each), each.status.lower()) for each in found]
    console().print(table(("change", "value", "status"), rows, right=("value",), wrap=("change",)))


def _gain(found: "Marginal") -> str:
    """+1.9, or the interval that is proven."""
    if found.gain is None or found.gain == found.gain_at_most:
        return _signed(found.gain)
    return f"{_signed(found.gain)} to {_signed(found.gain_at_most)}"


def _signed(gain: float | None) -> str:
    return "-" if gain is None else f"{'+' if gain >= 0 else ''}{number(gain)}"
