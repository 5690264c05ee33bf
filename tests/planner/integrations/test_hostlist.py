"""Host lists as Slurm reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.hostlist import hosts_of


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from(["n", "gpu-", "a.b"]), st.integers(0, 120), st.integers(0, 9), st.integers(1, 3)),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_host_lists_are_read_as_slurm_reads_them(ranges: list[tuple[str, int, int, int]]) -> None:
    text, names = [], []
    for head, first, more, digits in ranges:
        text.append(f"{head}[{first:0{digits}d}-{first + more:0{digits}d}]")
        names += [f"{head}{number:0{digits}d}" for number in range(first, first + more + 1)]
    assert hosts_of(",".join(text)) == names


@pytest.mark.parametrize(
    "text", ["", ",", "a,", "a b", "a[", "a]", "a[]", "a[3-1]", "a[x]", "[-]", "n[0-99999]", "-", "a[0-9][0-9999][0-9]"]
)
def test_what_is_no_host_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|range|more than"):
        hosts_of(text)
