"""The rack as a floor plan: servers, tiles by job, circuits between servers, failed parts hatched."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from planner.fabrics.drawing import place_of
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.plotting import SUFFIXES, require_matplotlib
from planner.plotting.style import as_written, is_dark, palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FREE, FAILED, INK = "#e6e9ed", "#ffffff", "#16191d"
SERVER_GAP, RACK_GAP, TILE = 0.5, 1.5, 0.9
INCHES_PER_TILE = 0.42
MOST_CIRCUITS = 2000
"""lines that are told apart; of more, none is drawn"""


def floor_plan(ax: Axes, instance: Instance, plan: Plan) -> Axes:
    """Draw the tiles of all servers, racks side by side, each with the number of its job from 1."""
    fabric = instance.cluster.fabric
    columns, rows = _shape(instance)
    number_of_job = {job.name: number for number, job in enumerate(instance.all_jobs)}
    owner = {name: number_of_job[a.job] for a in plan.assignments for name in a.devices}
    colours = _colours(plan, number_of_job)
    for server in range(fabric.num_servers):
        rack, local = divmod(server, fabric.servers)
        left, top = rack * (columns + RACK_GAP), local * (rows + SERVER_GAP)
        ax.text(left - 0.2, top + rows / 2, fabric.server_name(server), ha="right", va="center", fontsize=8)
        for slot in range(fabric.devices_per_server):
            x, y = left + slot % columns, top + slot // columns
            _draw_tile(ax, instance, (server, slot), owner.get(fabric.device_name(server, slot)), colours, x, y)
    width, height = _extent(instance)
    ax.set_xlim(-RACK_GAP, width)
    ax.set_ylim(height, -SERVER_GAP)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(instance.name, fontsize=10, parse_math=False)
    return _with_legend(ax, plan, number_of_job, colours, _draw_circuits(ax, instance, plan))


def save_floor_plan(path: str | Path, instance: Instance, plan: Plan) -> None:
    """Write the floor plan as .png or .svg; InputError for any other suffix."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(str(path), "suffix", f"'{suffix}' is no known format; use {' or '.join(SUFFIXES)}")
    require_matplotlib()
    from matplotlib.figure import Figure

    width, height = _extent(instance)
    size = max(4.0, width * INCHES_PER_TILE + 2.5), max(2.5, height * INCHES_PER_TILE + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    floor_plan(figure.subplots(), instance, plan)
    try:
        figure.savefig(path, dpi=150, bbox_inches="tight")
    except OSError as error:
        raise InputError(str(path), "", f"cannot be written: {error.strerror}") from None


def _shape(instance: Instance) -> tuple[int, int]:
    """Columns and rows of the tiles of one server."""
    fabric = instance.cluster.fabric
    return fabric.devices_per_server // fabric.rows, fabric.rows


def _extent(instance: Instance) -> tuple[float, float]:
    """Width and height of all racks, in tiles."""
    fabric = instance.cluster.fabric
    columns, rows = _shape(instance)
    return fabric.racks * (columns + RACK_GAP) - RACK_GAP, fabric.servers * (rows + SERVER_GAP)


def _draw_tile(
    ax: Axes,
    instance: Instance,
    place: tuple[int, int],
    job: int | None,
    colours: Mapping[int, str],
    x: float,
    y: float,
) -> None:
    from matplotlib.patches import FancyBboxPatch

    is_failed = place in instance.cluster.failed_devices
    colour = FAILED if is_failed else FREE if job is None else colours[job]
    tile = FancyBboxPatch(
        (x + 0.1, y + 0.1), TILE - 0.1, TILE - 0.1, boxstyle="round,pad=0.02,rounding_size=0.1",
        facecolor=colour, edgecolor="#59626e", linewidth=0.6, hatch="////" if is_failed else None,
    )  # fmt: skip
    ax.add_patch(tile)
    if job is not None:
        ink = "white" if is_dark(colour) else "black"
        ax.text(x + 0.5, y + 0.5, str(job + 1), ha="center", va="center", fontsize=8, color=ink)
    if place in instance.cluster.dark_devices:
        ax.plot([x + 0.8], [y + 0.2], marker="x", color="#b3191f", markersize=4)


def _colours(plan: Plan, number_of_job: Mapping[str, int]) -> dict[int, str]:
    """By number of each job that runs: the colours of the page, none twice."""
    numbers = sorted(number_of_job[name] for name in plan.admitted)
    return dict(zip(numbers, palette(len(numbers)), strict=True))


def _draw_circuits(ax: Axes, instance: Instance, plan: Plan) -> str:
    """Light from server to server, each pair of accelerators once, in arcs that keep both directions apart: what of it
    is drawn, in words; "" where there is none."""
    from matplotlib.patches import FancyArrowPatch

    pairs = dict.fromkeys(
        (circuit.source, circuit.destination)
        for assignment in plan.assignments
        for held in assignment.circuits
        for circuit in held.circuits
    )
    middles = {name: _middle(instance, name) for pair in pairs for name in pair}
    known = [(a, b) for a, b in ((middles[source], middles[end]) for source, end in pairs) if a and b]
    lines = [(a, b) for a, b in known if a[0] != b[0]]
    for (_, *start), (_, *end) in lines if len(lines) <= MOST_CIRCUITS else ():
        light = FancyArrowPatch(
            (start[0], start[1]), (end[0], end[1]), connectionstyle="arc3,rad=0.25", arrowstyle="-|>",
            mutation_scale=5, linewidth=0.6, color=INK, alpha=0.35, zorder=3,
        )  # fmt: skip
        ax.add_patch(light)
    return _drawn_light(len(lines), len(known) - len(lines))


def _drawn_light(between: int, inside: int) -> str:
    """light between servers (12 pairs inside not drawn)."""
    if not between and not inside:
        return ""
    drawn = "light between servers" if 0 < between <= MOST_CIRCUITS else "light"
    left_out = [f"{between:,} pairs between servers"] * (between > MOST_CIRCUITS) + [f"{inside:,} inside"] * (
        inside > 0
    )
    return f"{drawn} ({' and '.join(left_out)} not drawn)" if left_out else drawn


def _middle(instance: Instance, name: str) -> tuple[int, float, float] | None:
    """Server and middle of the tile of an accelerator; None for other ends of light."""
    place = place_of(instance.cluster, name)
    if place is None:
        return None
    (server, slot), (columns, rows) = place, _shape(instance)
    rack, local = divmod(server, instance.cluster.fabric.servers)
    x, y = rack * (columns + RACK_GAP) + slot % columns, local * (rows + SERVER_GAP) + slot // columns
    return server, x + 0.5, y + 0.5


def _with_legend(
    ax: Axes, plan: Plan, number_of_job: Mapping[str, int], colours: Mapping[int, str], light: str
) -> Axes:
    """Number, name and colour of each admitted job, and what light is drawn; names are shown as they are, without
    mathematics."""
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    numbered = sorted((number_of_job[name], name) for name in plan.admitted)
    marks: list[Artist] = [Patch(facecolor=colours[n], label=f"{n + 1}  {name}") for n, name in numbered]
    marks += [Line2D([], [], color=INK, linewidth=0.6, label=light)] * bool(light)
    if marks:
        beside = (1.01, 1)
        legend = ax.legend(handles=marks, loc="upper left", bbox_to_anchor=beside, fontsize=7, frameon=False)
        as_written(legend.get_texts())
    return ax
