"""planner marginal: what one more of each part would add."""

from planner.cli.inputs import AsJson, InstancePath, Seed, TimeLimit, Workers, naming
from planner.cli.output import console, number, print_json, table, to_json


def marginal(
    instance: InstancePath,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> int:
    """Solve again with one more fiber, server or peer, or faster switches, and show what each adds."""
    from planner.instance import Instance
    from planner.marginal import marginal as gains
    from planner.result import SolveOptions

    loaded = Instance.load(instance)
    options = SolveOptions(time_limit_s=time_limit, seed=seed, workers=workers)
    with naming(instance, loaded):
        found = gains(loaded, time_limit_s=time_limit, options=options)
    if as_json:
        print_json([to_json(vars(each)) for each in found])
        return 0
    rows = [(each.change, _signed(each.gain), str(to_json(each.status)).lower()) for each in found]
    console().print(table(("change", loaded.objectives[0].name, "status"), rows, right=("value",)))
    return 0


def _signed(gain: float | None) -> str:
    return "-" if gain is None else f"{'+' if gain >= 0 else ''}{number(gain)}"
