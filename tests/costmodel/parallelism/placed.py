"""Shared by the tests of `degrees`, `fat_tree` and `mappings`."""

from hypothesis import strategies as st

from costmodel.parallelism.degrees import Degrees

DEGREE = st.sampled_from([1, 2, 3, 4])


def groups(d: Degrees, dimension: str) -> dict[tuple[int, ...], list[int]]:
    """Ranks of each group, counted one by one: what a rank's other indices are names its group."""
    found: dict[tuple[int, ...], list[int]] = {}
    for rank in range(d.num_devices):
        rest, t = divmod(rank, d.tensor)
        rest, c = divmod(rest, d.context)
        data, p = divmod(rest, d.pipeline)
        outer, inner = divmod(data, d.expert)
        key = {
            "tensor": (data, p, c), "context": (data, p, t), "pipeline": (data, c, t), "data": (p, t),
            "expert": (outer, p, c, t),
        }[dimension]  # fmt: skip
        found.setdefault(key, []).append(rank)
        assert 0 <= inner < d.expert
    return found
