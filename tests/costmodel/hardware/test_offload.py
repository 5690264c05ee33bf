"""Names of what is offloaded, there and back."""

import pytest

from costmodel.hardware.offload import offload_code, offload_name
from costmodel.parallelism.mappings import OFFLOAD, Mappings


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
