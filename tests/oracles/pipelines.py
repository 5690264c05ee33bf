"""Pipelines played through pass by pass: when each device runs what, and how much it holds meanwhile.

Passes take whole numbers of time. Nothing here knows a formula.
"""

from collections import deque
from dataclasses import dataclass, field


@dataclass
class Lengths:
    forward: int = 1
    inputs: int = 1
    weights: int = 1

    @property
    def all(self) -> int:
        return self.forward + self.inputs + self.weights


@dataclass
class Played:
    """Of each device."""

    waits: list[int]
    """time that passes until the last device is done, less what it works"""
    held: list[int] = field(default_factory=list)
    """most micro-batches whose activations it holds"""
    whole: list[int] = field(default_factory=list)
    """most of these that have not yet run backward"""


def zero_bubble(stages: int, micro_batches: int, length: Lengths) -> Played:
    """ZB-H1: forward and backward passes in the order of 1F1B; gradients of weights where a stage would wait, or
    before it would hold more micro-batches than 1F1B does on its first stage."""
    orders = []
    for stage in range(stages):
        ahead = min(stages - 1 - stage, micro_batches)
        order = ["F"] * ahead
        order += [each for k in range(micro_batches) for each in (["F", "B"] if k + ahead < micro_batches else ["B"])]
        orders.append(deque(order))
    forward: list[list[int]] = [[] for _ in range(stages)]
    backward: list[list[int]] = [[] for _ in range(stages)]
    weights, free, worked = [0] * stages, [0] * stages, [0] * stages
    held, whole, now = [0] * stages, [0] * stages, 0

    def is_ready(stage: int) -> bool:
        if not orders[stage]:
            return False
        if orders[stage][0] == "F":
            k = len(forward[stage])
            has_room = k - weights[stage] < stages
            return has_room and (stage == 0 or (len(forward[stage - 1]) > k and forward[stage - 1][k] <= now))
        k, after = len(backward[stage]), backward[stage + 1] if stage + 1 < stages else forward[stage]
        return len(after) > k and after[k] <= now

    while min(weights) < micro_batches:
        for stage in (s for s in range(stages) if free[s] <= now):
            if is_ready(stage):
                kind = orders[stage].popleft()
                takes = length.forward if kind == "F" else length.inputs
                (forward if kind == "F" else backward)[stage].append(now + takes)
            elif weights[stage] < len(backward[stage]):
                takes = length.weights
                weights[stage] += 1
            else:
                continue
            free[stage] = now + takes
            worked[stage] += takes
            held[stage] = max(held[stage], len(forward[stage]) - weights[stage])
            whole[stage] = max(whole[stage], len(forward[stage]) - len(backward[stage]))
        now += 1
    return Played([max(free) - each for each in worked], held, whole)


def dual_pipe(stages: int, micro_batches: int, length: Lengths) -> Played:
    """DualPipe by the eight steps of its authors' program (deepseek-ai/DualPipe, dualpipe/dualpipe.py, step), each
    direction with half of the micro-batches; a forward and a backward pass that overlap take as long as both."""
    programs = [deque(_program(stages, micro_batches // 2, rank)) for rank in range(stages)]
    done: dict[tuple[str, int, int, int], int] = {}
    count: dict[tuple[int, str, int], int] = {}
    pending: list[deque[int]] = [deque() for _ in range(stages)]
    free, worked, alive, held = [0] * stages, [0] * stages, [0] * stages, [0] * stages

    def way(rank: int, phase: int) -> int:
        """Direction of a rank's own or other micro-batches: 0 from the first rank, 1 from the last."""
        return phase if rank < stages // 2 else 1 - phase

    def came(kind: str, rank: int, phase: int) -> int | None:
        """When what the next pass of a kind needs is there; None as long as nobody has sent it."""
        direction = way(rank, phase)
        k = count.get((rank, kind, phase), 0)
        step = (1 if direction == 0 else -1) * (-1 if kind == "F" else 1)
        if not 0 <= rank + step < stages:
            return 0 if kind == "F" else done.get(("F", direction, rank, k))
        return done.get((kind, direction, rank + step, k))

    def run(rank: int, kind: str, phase: int, end: int) -> None:
        k = count.get((rank, kind, phase), 0)
        count[rank, kind, phase] = k + 1
        done[kind, way(rank, phase), rank, k] = end

    while any(programs):
        before = sum(map(len, programs))
        for rank, program in enumerate(programs):
            while program:
                parts, splits = program[0]
                starts = [came(kind, rank, phase) for kind, phase in parts]
                if None in starts:
                    break
                program.popleft()
                begin = max([free[rank], *(each for each in starts if each is not None)])
                takes = 0
                for kind, _ in parts:
                    takes += length.forward if kind == "F" else length.inputs + (0 if splits else length.weights)
                    alive[rank] += 1 if kind == "F" else 0
                    held[rank] = max(held[rank], alive[rank])
                    if kind == "B" and splits:
                        pending[rank].append(1)
                    elif kind == "B":
                        alive[rank] -= 1
                if not parts and pending[rank]:
                    pending[rank].popleft()
                    alive[rank] -= 1
                    takes = length.weights
                for kind, phase in parts:
                    run(rank, kind, phase, begin + takes)
                free[rank] = begin + takes
                worked[rank] += takes
        assert sum(map(len, programs)) < before, "each rank waits for another"
    return Played([max(free) - each for each in worked], held)


def _program(stages: int, half: int, rank: int) -> list[tuple[list[tuple[str, int]], bool]]:
    """Passes of one rank in order, each (kind, own 0 or other 1), and whether gradients of weights are put off; an
    empty one runs the gradients of weights that were put off longest ago."""
    near = min(rank, stages - 1 - rank)
    apart = stages // 2 - near - 1
    forward = [([("F", phase)], False) for phase in (0, 1)]
    weights: tuple[list[tuple[str, int]], bool] = ([], False)
    program = [forward[0]] * (2 * apart)
    program += [forward[0], forward[1]] * (near + 1)
    program += [([("B", 1)], True), weights, forward[1]] * apart
    for turn in range(half - stages + near + 1):
        is_apart = turn == 0 and near == stages // 2 - 1
        program += [forward[0], ([("B", 1)], False)] if is_apart else [([("F", 0), ("B", 1)], False)]
        program.append(([("F", 1), ("B", 0)], False))
    program += [([("B", 1)], False), ([("F", 1), ("B", 0)], False)] * apart
    puts_off = False
    for turn in range(near + 1):
        puts_off |= turn == (near + 1) // 2 and near % 2 == 1
        program.append(([("B", 1)], puts_off))
        puts_off |= turn == (near + 1) // 2 and near % 2 == 0
        program.append(([("B", 0)], puts_off))
    program += [weights, ([("B", 0)], True)] * apart
    return program + [weights] * (near + 1)
