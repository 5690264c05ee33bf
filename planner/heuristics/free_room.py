r"""Number of jobs of one size that fit at once on the free devices, by counting: each inside a server or across two.

Jobs across servers form a forest. Where all servers may share, a tree of k servers with F free devices and
F >= s (k - 1) runs floor(F / s) jobs of size s: the server with the fewest gives all it has to a job whose other
devices the one with the most provides, and what is left is such a tree of k - 1 servers. So servers with d = s - f > 0
devices too few are packed like items of size d into bins of s, one tree each, and servers with s or more make one
tree whose bin has what they have too much, and s.
"""

from collections.abc import Callable, Mapping, Sequence

MaySpan = Callable[[int, int], bool]
"""whether a job may lie on two servers"""


def most_packed(free: Mapping[int, int], size: int, may_span: MaySpan) -> int:
    """Jobs found by best fit or by lending: a lower bound; `free` has devices by server, `size` is above 1."""
    found = _best_fit(free, size, may_span)
    return found if found == sum(free.values()) // size else max(found, _lent(free, size, may_span))


def _best_fit(free: Mapping[int, int], size: int, may_span: MaySpan) -> int:
    """Servers with the fewest devices first, each joins the tree that it leaves the least, or becomes one."""
    trees = [server for server, devices in free.items() if devices >= size]
    left, jobs = dict(free), 0
    for server in sorted((s for s, devices in free.items() if 0 < devices < size), key=lambda s: (free[s], s)):
        has_joined = _has_joined(server, trees, left, size, may_span)
        jobs += has_joined
        trees += [] if has_joined else [server]
    for server in sorted(trees, key=lambda s: (left[s] % size, s)):
        trees.remove(server)
        whole, left[server] = divmod(left[server], size)
        jobs += whole + (left[server] > 0 and _has_joined(server, trees, left, size, may_span))
    return jobs


def _has_joined(server: int, trees: Sequence[int], left: dict[int, int], size: int, may_span: MaySpan) -> bool:
    """True if what a server has left went to a job across it and a tree, at best one with less than a job."""
    missing = size - left[server]
    able = [tree for tree in trees if left[tree] >= missing and may_span(server, tree)]
    if not able:
        return False
    tight = [tree for tree in able if left[tree] < size]
    best = min(tight, key=lambda tree: left[tree]) if tight else max(able, key=lambda tree: left[tree])
    left[best] -= missing
    return True


def _lent(free: Mapping[int, int], size: int, may_span: MaySpan) -> int:
    """The server with the fewest devices runs what fits and gives the rest to a job across it and the one with the
    most that may share it; the first one of several."""
    left, jobs = {server: devices for server, devices in free.items() if devices}, 0
    while left:
        server = min(left, key=lambda s: (left[s], s))
        whole, rest = divmod(left.pop(server), size)
        jobs += whole
        able = [s for s in left if may_span(server, s)] if rest else []
        most = max(able, key=lambda s: (left[s], -s), default=None)
        if most is not None and left[most] >= size - rest:
            jobs += 1
            left[most] -= size - rest
            if not left[most]:
                del left[most]
    return jobs


def parts(free: Sequence[int], size: int, may_span: MaySpan) -> list[list[int]]:
    """Servers with free devices, joined by pairs that together hold a job: each part has floor(F / size) at most."""
    left, found = {server for server, devices in enumerate(free) if devices}, list[list[int]]()
    while left:
        part = [left.pop()]
        for here in part:
            near = {other for other in left if free[here] + free[other] >= size and may_span(here, other)}
            left -= near
            part += sorted(near)
        found.append(sorted(part))
    return found
