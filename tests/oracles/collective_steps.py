"""Fewest steps of a collective in which every link carries one chunk a step, by trying everything; plain sets."""

from collections.abc import Iterator

State = frozenset[tuple[int, int]]
"""(chunk, node) that hold it; a chunk stays where it was"""


def fewest_steps(ways: list[tuple[int, int, tuple[int, ...]]], start: State, end: State) -> int:
    """`ways`: sender, receiver and the links that a chunk takes at a time. States that another includes are dropped."""
    steps, states = 0, [start]
    while not any(end <= state for state in states):
        after = {state | sent for state in states for sent in _sendings(ways, state, frozenset())}
        states = [each for each in after if not any(each < other for other in after)]
        steps += 1
    return steps


def _sendings(ways: list[tuple[int, int, tuple[int, ...]]], state: State, taken: frozenset[int]) -> Iterator[State]:
    """What may arrive in one step, over ways in their order."""
    if not ways:
        yield frozenset()
        return
    (sender, receiver, links), rest = ways[0], ways[1:]
    yield from _sendings(rest, state, taken)
    if taken & set(links):
        return
    for chunk in [chunk for chunk, node in state if node == sender and (chunk, receiver) not in state]:
        for more in _sendings(rest, state, taken | set(links)):
            yield more | {(chunk, receiver)}
