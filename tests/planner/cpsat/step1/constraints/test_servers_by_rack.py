"""Jobs on rails that ask for numbers of servers of each rack, against enumeration."""

import pytest

from tests.oracles import rails
from tests.oracles.tiny_by_rack import tiny_rails_by_rack
from tests.planner.optimum import assert_pruning_changes_no_level, assert_solved_to


@pytest.mark.parametrize("seed", range(12))
def test_values_on_rails_are_the_enumerated_ones(seed: int) -> None:
    instance = tiny_rails_by_rack(seed)
    assert_solved_to(instance, rails.best_value(instance))


@pytest.mark.parametrize("seed", range(4))
def test_dropping_what_cannot_matter_changes_nothing(seed: int) -> None:
    assert_pruning_changes_no_level(tiny_rails_by_rack(seed))
