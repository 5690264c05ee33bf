"""Fields of a training job."""

import pytest
from pydantic import ValidationError

from costmodel.workloads.transformer.training_spec import MENUS
from tests.costmodel.parallelism.search_space_cases import training


@pytest.mark.parametrize("name", MENUS)
def test_a_menu_without_choices_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=f"{name}: is an empty list"):
        training(**{name: []})
