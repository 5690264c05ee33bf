"""Switches of a step whose circuits take turns, one message after the other: what a scalar timeline says."""

from typing import Any, NamedTuple

from tests.oracles.transformer import Step


class Waits(NamedTuple):
    """Seconds of a step in which nothing runs but switches: for hand-overs, and for messages between replicas."""

    inner_s: float
    outer_s: float
    hidden_s: float


def waits(step: Step, plans: dict[str, Any], turns: tuple[str, ...], switch_s: float, free_s: float) -> Waits:
    """`free_s`: of operators that hide no message."""
    place = {kind: number for number, turn in enumerate(turns) for kind in turn.split("+")}
    layers, hand_overs, replicas = 0.0, 0.0, 0.0
    for send in (send for work in step.works for send in work.sends):
        if not plans[send.dimension].wavelengths:
            continue
        if send.dimension == "pipeline":
            hand_overs += send.times
        elif send.dimension == "data":
            apart = "layers" in place and place["layers"] != place["data"]
            replicas += 2 * send.times * (send.parts if apart else 1)
        else:
            layers += send.times * (2 if send.dimension == "context" else 1)
    rest = place["layers"] if "layers" in place else place["pipeline"]
    away = [
        (hand_overs if place.get("pipeline", rest) != rest else 0.0),
        (replicas if place.get("data", rest) != rest else 0.0),
    ]
    gaps = max(layers + hand_overs + replicas, 2 * sum(away))
    gap_s = free_s / gaps if gaps else 0.0
    shown_s = switch_s - gap_s if switch_s > gap_s else 0.0
    # The output of the last layer is sent as soon as it is there: the switch to its circuits never hides.
    inner_s, outer_s = away[0] * (switch_s + shown_s), 2 * away[1] * shown_s
    return Waits(inner_s, outer_s, 2 * sum(away) * switch_s - inner_s - outer_s)


def num_messages(step: Step, plans: dict[str, Any]) -> float:
    """Over circuits, whole; halves of all-reduces that are called alone each count as one."""
    sends = (send for work in step.works for send in work.sends if plans[send.dimension].wavelengths)
    return sum(send.times * (2 if send.dimension in ("data", "context") else 1) for send in sends)


def num_at_once(step: Step) -> float:
    """Switches from one message to the next without an operator: to hand-overs after layers that send, and to experts
    after all-reduces of tensor groups, once for tokens that go there and come back."""
    counts = dict.fromkeys(("tensor", "context", "expert", "pipeline"), 0.0)
    for send in (send for work in step.works for send in work.sends if send.dimension in counts):
        counts[send.dimension] += send.times
    in_layers = counts["tensor"] or counts["context"] or counts["expert"]
    return (counts["pipeline"] if in_layers else 0.0) + (counts["expert"] / 2 if counts["tensor"] else 0.0)
