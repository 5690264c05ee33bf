"""A closed loop of users over two pools of replicas, event by event: an independent reading of the same rules."""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush


def simulate(
    *,
    users: int,
    prefill: int,
    decode: int,
    slots: int,
    output_tokens: int,
    prompt_s: float,
    cache_s: float,
    step_s: Callable[[int], float],
    rounds: int,
) -> tuple[float, float]:
    """Mean time to first token and per output token of the later requests.

    Prompts wait in one queue, each replica of prompts takes one at a time, the first ones one after the other, so that
    replicas are not in step, and a cache goes after it, beside the next prompt, once the replica of tokens takes in no
    other one; a request whose replica of tokens is full waits where it is, before its first token. Each replica of
    tokens is given an equal share of the requests. A replica of tokens runs step after step: a request that comes in
    between joins at the next one.
    """
    events: list[tuple[float, int, str, int]] = []
    count = 0

    def at(time: float, what: str, who: int) -> None:
        nonlocal count
        count += 1
        heappush(events, (time, count, what, who))

    sent, first, done = dict[int, list[float]](), dict[int, list[float]](), dict[int, list[float]]()
    queue: deque[int] = deque()
    idle = deque[int]()
    arrived: list[deque[int]] = [deque() for _ in range(decode)]
    running: list[dict[int, int]] = [{} for _ in range(decode)]
    is_stepping, taken_by = [False] * decode, dict[int, int]()
    given, free_at = 0, [0.0] * decode

    def start_prompts(now: float) -> None:
        while queue and idle:
            idle.popleft()
            at(now + prompt_s, "prompt", queue.popleft())

    def start_step(now: float, replica: int) -> None:
        while arrived[replica] and len(running[replica]) < slots:
            user = arrived[replica].popleft()
            running[replica][user] = output_tokens - 1
            first[user].append(now)
        is_stepping[replica] = bool(running[replica])
        if is_stepping[replica]:
            at(now + step_s(len(running[replica])), "step", replica)

    for user in range(users):
        sent[user], first[user], done[user] = [0.0], [], []
        queue.append(user)
    for replica in range(prefill):
        at(replica * prompt_s / prefill, "begin", replica)
    finished = 0
    while finished < rounds * users:
        now, _, what, who = heappop(events)
        if what == "begin":
            idle.append(who)
            start_prompts(now)
        elif what == "prompt":
            idle.append(0)
            replica, given = given % decode, given + 1
            free_at[replica] = max(now, free_at[replica]) + cache_s
            taken_by[who] = replica
            at(free_at[replica], "cache", who)
            start_prompts(now)
        elif what == "cache":
            replica = taken_by[who]
            arrived[replica].append(who)
            if not is_stepping[replica]:
                start_step(now, replica)
        else:
            for user in [u for u, left in running[who].items() if left == 1]:
                del running[who][user]
                finished += 1
                done[user].append(now)
                sent[user].append(now)
                queue.append(user)
            running[who] = {u: left - 1 for u, left in running[who].items()}
            start_prompts(now)
            start_step(now, who)
    return _means(sent, first, done, output_tokens)


def _means(
    sent: dict[int, list[float]], first: dict[int, list[float]], done: dict[int, list[float]], output_tokens: int
) -> tuple[float, float]:
    """Over the second half of each user's requests."""
    requests = [
        (a, b, c)
        for user in sent
        for a, b, c in list(zip(sent[user], first[user], done[user], strict=False))[len(done[user]) // 2 :]
    ]
    first_s = sum(b - a for a, b, _ in requests) / len(requests)
    token_s = sum(c - b for _, b, c in requests) / len(requests) / (output_tokens - 1)
    return first_s, token_s
