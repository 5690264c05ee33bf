"""Host lists as Slurm writes them: n[0-7,9],gpu01.

Order is kept, because a configuration numbers servers by it, and a name given twice is seen. No package does so under a
licence that fits: ClusterShell sorts and drops repeated names, python-hostlist is GPL, py-hostlist has no release.
"""

import re

MOST_HOSTS = 65536
_PART = re.compile(r"([A-Za-z0-9._-]+)|,|\[([0-9,-]+)\]")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def hosts_of(text: str) -> list[str]:
    """Names of a host list in order, zeros kept (n[08-11]); ValueError says what is wrong."""
    heads, found = [""], list[str]()
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None:
            raise ValueError(f"'{text}' is no list of hosts; write it like n[0-7,9]")
        if match[0] == ",":
            found, heads = found + heads, [""]
        else:
            tails = [match[1]] if match[1] else _numbers(match[2], text)
            if len(heads) * len(tails) > MOST_HOSTS:
                raise ValueError(f"'{text}' names more than {MOST_HOSTS} hosts")
            heads = [head + tail for head in heads for tail in tails]
        at = match.end()
    found += heads
    for name in found:
        if not _NAME.fullmatch(name):
            raise ValueError(f"'{text}' holds '{name}', which is no name of a host; write it like n[0-7,9]")
    return found


def _numbers(inside: str, text: str) -> list[str]:
    """08-11,13 as 08, 09, 10, 11, 13."""
    found: list[str] = []
    for part in inside.split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        first, last = (match[1], match[2] or match[1]) if match else ("1", "0")
        if int(last) < int(first) or int(last) - int(first) >= MOST_HOSTS:
            raise ValueError(f"'{text}': '{part}' is no range of numbers; write it like n[0-7,9]")
        found += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return found
