"""Rows of the linear relaxation that say how long a step takes: operators in order, and what links carry meanwhile."""

from collections.abc import Iterator

import numpy as np

from planner.formulation.linear import Ints, Rows
from planner.pages.cpsat.columns import Columns
from planner.pages.cpsat.windows import Waiting, Window

MOST_STRETCHES = 32
"""from the start of which to the end of which everything in between is carried"""
BEYOND = (0, 1, 4)
"""tensors, or users, that are looked at beyond those that may be outside of a window"""
Row = tuple[list[int], list[float], float]
"""columns, entries, and what they amount to at least"""


def pass_time(rows: Rows, own: Columns) -> None:
    """All rows about the time of one job's step."""
    _operators(rows, own)
    _carry(rows, own)
    _stretches(rows, own)
    if own.windows.are_fine:
        _outside(rows, own)
    for window in own.windows:
        for columns, entries, least in _window(own, window):
            rows.add(columns, entries, least, np.inf)


def _operators(rows: Rows, own: Columns) -> None:
    """Operators one after the other, and collectives one after the other behind any of them."""
    stretches = own.windows.remade_in[own.made]
    exchange_s = np.cumsum(own.task.program.exchange_s[::-1])[::-1]
    for stretch, operator_s in enumerate(own.windows.operator_s.tolist()):
        columns, entries = own.again(own.made[stretches == stretch])
        ends = [own.start[stretch + 1], own.start[stretch]]
        rows.add([*ends, *columns], [1.0, -1.0, *entries], operator_s / own.longest_s, np.inf)
        least_s = float(exchange_s[max(own.windows.places[stretch], 0)])
        rows.add([own.end, own.start[stretch]], [1.0, -1.0], least_s / own.longest_s, np.inf)


def _carry(rows: Rows, own: Columns) -> None:
    """What links have carried up to each place."""
    for way, stretches in enumerate(own.windows.stretches):
        for link, carried in enumerate(own.carried[way].T):
            for stretch in range(len(carried) - 1):
                inside = np.flatnonzero(stretches == stretch)
                ends = [carried[stretch + 1], carried[stretch]]
                copies = (-own.copy_share[inside, link]).tolist()
                rows.add([*ends, *own.moved[inside, link].tolist()], [1.0, -1.0, *copies], 0.0, 0.0)


def _stretches(rows: Rows, own: Columns) -> None:
    """What leaves after an operator and comes back before another is carried between them, all of it."""
    program = own.task.program
    absences, passed_s = program.absences, np.concatenate([[0.0], np.cumsum(program.operator_s)])
    after, before = np.array([each.after for each in absences]), np.array([each.before for each in absences])
    places = np.unique(before)
    chosen = np.linspace(0, len(places) - 1, min(MOST_STRETCHES, len(places))).astype(np.int64)
    for until in places[chosen].tolist():
        inside = np.flatnonzero(before <= until)
        ways = program.leaves[inside].astype(np.int64) + program.returns[inside]
        again, adds = own.again(own.made[before[own.made] >= until])
        least_s = passed_s[int(after[inside].min()) + 1] + passed_s[-1] - passed_s[until]
        for link in range(len(own.task.links)):
            copies = (-ways * own.copy_share[inside, link]).tolist()
            columns = [own.end, *own.moved[inside, link].tolist(), *again]
            rows.add(columns, [1.0, *copies, *adds], least_s / own.longest_s, np.inf)


def _window(own: Columns, window: Window) -> Iterator[Row]:
    """No link carries more than the window lasts, nor do all of them together; where that may bind."""
    first, last = window.first, window.last
    lasts = float(own.windows.operator_s[first:last].sum()) / own.longest_s
    ways = (0, 1) if window.counts_leaving else (1,)
    for group, parts in own.groups:
        rate = own.bytes_per_unit(group)
        if window.most_bytes / rate <= lasts:
            continue
        columns, entries = [int(own.start[last]), int(own.start[first])], [1.0, -1.0]
        for way in ways:
            columns += [*own.carried[way, last, group].tolist(), *own.carried[2 * way, first, group].tolist()]
            entries += [*(-parts).tolist(), *parts.tolist()]
        outside = window.early_bytes + window.late_bytes
        if (window.most_bytes - outside) / rate > lasts:
            yield columns, entries, -outside / rate
        if outside > 0 and own.windows.are_fine:
            away = own.outside[0, last, group].tolist() if window.late_bytes > 0 else []
            back = own.outside[1, first, group].tolist() if window.early_bytes > 0 else []
            parts_of = parts.tolist()
            yield [*columns, *away, *back], [*entries, *(parts_of if away else ()), *(parts_of if back else ())], 0.0


def _outside(rows: Rows, own: Columns) -> None:
    """What may lie outside of a window: of the tensors that left last before it ends, and of what the first users after
    it begins need."""
    windows = own.windows
    for place in range(1, len(own.start) - 1):
        if windows.rules.most_leaving is not None:
            _exceptions(rows, own, own.outside[0, place], windows.last_leaving(place), windows.rules.most_leaving)
        _exceptions(rows, own, own.outside[1, place], windows.first_needed(place), windows.rules.lookahead)


def _exceptions(rows: Rows, own: Columns, outside: Ints, listed: list[Waiting], most: int) -> None:
    """At most `most` of those listed are outside, the first that there are.

    The first k hold them all unless more than k - `most` of these are not there: each that is not, with a weight of
    1 / (k - `most` + 1), makes room for all that could be outside in their place.
    """
    sizes = own.task.program.size_bytes
    most_bytes = sum(sorted((float(sizes[each.absences].sum()) for each in listed), reverse=True)[:most])
    for beyond in BEYOND:
        first = listed[: most + beyond]
        if len(first) < most + beyond:
            return
        sure = own.moved[[each.sure for each in first if each.sure is not None]].ravel()
        inside = np.array(sorted({a for each in first for a in each.absences}), np.int64)
        for group, parts in own.groups:
            rate = own.bytes_per_unit(group)
            room = most_bytes / rate / (beyond + 1)
            columns = np.concatenate([outside[group], own.moved[inside][:, group].ravel(), sure])
            moves = np.repeat(-sizes[inside] / rate, len(group))
            entries = np.concatenate([parts, moves, np.full(len(sure), room)])
            rows.add(columns, entries, -np.inf, room * len(first))
