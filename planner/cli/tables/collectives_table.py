"""The table of a candidate's collectives over circuits or links of their own: each against the least time of any."""

from typing import TYPE_CHECKING, Any

from planner.cli.output import percent, plain, quantity, table

if TYPE_CHECKING:
    from rich.table import Table

    from planner.fabrics.problem import JobOptions
    from planner.model.cluster import Cluster


def collective_records(cluster: "Cluster", options: "JobOptions", row: int) -> list[dict[str, Any]]:
    """All that is known of each collective of a candidate; those of most time in a step first."""
    from costmodel.pricing.message_bounds import collective_times

    return [
        {
            "name": each.name,
            "dimension": each.dimension,
            "ranks": each.ranks,
            "message_bytes": each.message_bytes,
            "calls": each.calls,
            "time_s": each.time_s,
            "bound_s": each.bound_s,
            "gap": each.gap,
            **({"wiring_bound_s": each.wiring_bound_s} if each.wiring_bound_s > 0 else {}),
        }
        for each in collective_times(options.candidates, row, cluster.device, cluster.fabric)
    ]


def collectives_table(records: list[dict[str, Any]]) -> "Table":
    """Rows of `collective_records` for people."""
    is_wired = any("wiring_bound_s" in each for each in records)
    rows = [
        (
            plain(each["name"]),
            str(each["ranks"]),
            quantity(each["message_bytes"], "B"),
            f"{each['calls']:,.4g}",
            quantity(each["time_s"], "s"),
            quantity(each["bound_s"], "s"),
            percent(each["gap"]),
            *([quantity(each["wiring_bound_s"], "s") if "wiring_bound_s" in each else "-"] if is_wired else []),
        )
        for each in records
    ]
    columns: tuple[str, ...] = ("collective", "ranks", "message", "calls a step", "each", "least of any plan", "gap")
    columns = (*columns, *(["least over this wiring"] if is_wired else []))
    result = table(columns, rows, right=columns[1:])
    result.title = (
        "collectives of the first; least of any plan: with all wavelengths of its ranks, or any wiring of as many links"
    )
    result.title_justify = "left"
    return result
