"""What must hold of a run, judged from answers, the file of the journal and what switches were told: nothing of the
controller is asked."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.oracles.controller import replayed

TAKE_OVER_S = 10.0


@dataclass(frozen=True)
class Answer:
    """What a client was told of one event."""

    key: str
    seq: int
    decisions: list[dict[str, Any]]
    asked_s: float
    """when the request was sent that was answered"""
    answered_s: float


@dataclass(frozen=True)
class Told:
    """What a node was told of one job: where it runs, and that its light is on."""

    job: str
    seq: int
    devices: tuple[str, ...]
    asked_s: float
    at_s: float
    """when the answer came"""
    said_s: float
    """when it was true, at the latest"""


def lost(path: Path, answers: Sequence[Answer]) -> Iterator[str]:
    """Answers that are not in the journal as they were given, and answers that came before older events."""
    rows = rows_of(path)
    by_key = {key: (seq, decisions) for seq, key, _, decisions in rows if key is not None}
    for answer in answers:
        if answer.key not in by_key:
            yield f"the event of {answer.key} was answered, and is lost"
        elif by_key[answer.key][1] != answer.decisions:
            yield f"{answer.key} was answered {answer.decisions}, the journal has {by_key[answer.key][1]}"
    if [seq for seq, *_ in rows] != list(range(1, len(rows) + 1)):
        yield "events of the journal are not counted from 1 on"
    latest_s, latest = -1.0, Answer("", 0, [], 0.0, 0.0)
    for answer in sorted(answers, key=lambda each: by_key.get(each.key, (0,))[0]):
        if answer.answered_s < latest.asked_s and answer.key in by_key:
            yield f"{answer.key} was answered before {latest.key} was asked, and has happened after it"
        if answer.asked_s > latest_s:
            latest_s, latest = answer.asked_s, answer


def twice(path: Path, told: Sequence[Told]) -> Iterator[str]:
    """Jobs that ran twice, or beside others: places of the journal from event to event, and what nodes were told."""
    try:
        replayed(path)
    except AssertionError as error:
        yield f"the journal contradicts itself: {error}"
        return
    ended: dict[str, int] = {}
    for seq, _, body, decisions in rows_of(path):
        for each in decisions if "noted" not in body else ():
            if each["d"] == "start" and each["job"] in ended:
                yield f"{each['job']} starts with event {seq} although it ended with {ended[each['job']]}"
            if each["d"] == "stop" and not each["waits"]:
                ended[each["job"]] = seq
    for now in told:
        if now.job in ended and ended[now.job] <= now.seq:
            yield f"{now.job} was told to run by event {now.seq}, and has ended with {ended[now.job]}"
    yield from _backwards(told)


def _backwards(told: Sequence[Told]) -> Iterator[str]:
    """Nodes that asked after another had been told more: whoever answered led no more."""
    heard = iter(sorted(told, key=lambda each: each.at_s))
    before, latest = next(heard, None), 0
    for now in sorted(told, key=lambda each: each.asked_s):
        while before is not None and before.at_s < now.asked_s:
            latest, before = max(latest, before.seq), next(heard, None)
        if now.seq < latest:
            yield f"at {now.at_s:.2f} s a node was told of event {now.seq} after {latest}: by who leads no more"


def placed_by(path: Path) -> dict[str, list[int]]:
    """By job: events that gave it a place."""
    found: dict[str, list[int]] = defaultdict(list)
    for seq, _, body, decisions in rows_of(path):
        for each in decisions if "noted" not in body else ():
            if each["d"] in ("start", "move"):
                found[each["job"]].append(seq)
    return found


def rows_of(path: Path) -> list[tuple[int, str | None, dict[str, Any], list[dict[str, Any]]]]:
    """Number, key, body and decisions of all events."""
    database = sqlite3.connect(path)
    try:
        rows = database.execute("SELECT seq, key, body, decisions FROM events ORDER BY seq").fetchall()
    finally:
        database.close()
    return [(seq, key, json.loads(body), json.loads(decisions)) for seq, key, body, decisions in rows]
