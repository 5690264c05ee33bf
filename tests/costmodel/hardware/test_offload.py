"""Names of what is offloaded, there and back."""

import pytest

from costmodel.hardware.offload import offload_code, offload_name, share_codes
from costmodel.parallelism.mappings import OFFLOAD, SERVED, Mappings


def test_there_and_back() -> None:
    names = [offload_name(code) for code in range(1 << len(OFFLOAD))]
    assert [offload_code(name) for name in names] == [*range(8)]
    assert names[0] == "none"
    assert names[7] == "weights+activations+optimizer"
    assert offload_code("optimizer+weights") == offload_code("weights+optimizer")


@pytest.mark.parametrize("name", OFFLOAD)
def test_a_code_is_the_bit_of_its_name(name: str) -> None:
    m = Mappings.of(offload=offload_code(name))
    assert [other for other in OFFLOAD if m.has_offload(other)[0]] == [name]


@pytest.mark.parametrize("choice", ["", "weights+", "weights+weights", "gradients", "none+weights"])
def test_wrong_names_are_answered_by_the_right_form(choice: str) -> None:
    with pytest.raises(ValueError, match=r"is not 'none' or some of weights, activations, optimizer joined by \+"):
        offload_code(choice)


def test_shares_there_and_back() -> None:
    codes = share_codes(["none", "weights+cache", "tables 37.5 %"], SERVED)
    names = [offload_name(code) for code in codes]
    assert len(set(codes)) == len(codes) == 1 + 8 * 8 + 1
    assert [offload_code(name) for name in names] == [*codes]
    assert {"none", "weights 12.5 %+cache 100 %", "tables 37.5 %"} <= set(names)
    m = Mappings.of(offload=offload_code("cache 25 %+weights 100%"))
    assert [float(m.share_in_tier(name)[0]) for name in SERVED] == [1.0, 0.25, 0.0]
    assert not any(m.has_offload(name)[0] for name in OFFLOAD)


@pytest.mark.parametrize("choice", ["cache 20 %", "cache 0 %", "cache 25", "cache+cache 25 %", "tables", "cache -25 %"])
def test_wrong_shares_are_answered_by_the_right_form(choice: str) -> None:
    with pytest.raises(ValueError, match=r"some of weights, cache joined by \+, such as weights or weights 25 %"):
        share_codes([choice], ("weights", "cache"))
