"""Shared by the tests of `degrees`, `fat_tree` and `mappings`."""

from hypothesis import strategies as st

from costmodel.parallelism.degrees import Degrees

DEGREE = st.sampled_from([1, 2, 3, 4])


def indices_of(d: Degrees, rank: int) -> dict[str, int]:
    """Indices of a rank, by the name of its order alone."""
    extents = {"tp": d.tensor, "cp": d.context, "pp": d.pipeline, "ep": d.expert, "dp": d.data // d.expert}
    names = d.order.split("-")
    if "ep" not in names:
        names.insert(names.index("dp"), "ep")
    found = {}
    for name in names:
        rank, found[name] = divmod(rank, extents[name])
    return found


def groups(d: Degrees, dimension: str) -> dict[tuple[int, ...], list[int]]:
    """Ranks of each group, counted one by one: what a rank's other indices are names its group."""
    others = {
        "tensor": ("cp", "pp", "ep", "dp"), "context": ("tp", "pp", "ep", "dp"), "pipeline": ("tp", "cp", "ep", "dp"),
        "data": ("tp", "pp"), "expert": ("tp", "cp", "pp", "dp"),
    }[dimension]  # fmt: skip
    found: dict[tuple[int, ...], list[int]] = {}
    for rank in range(d.num_devices):
        index = indices_of(d, rank)
        found.setdefault(tuple(index[name] for name in others), []).append(rank)
    return found
