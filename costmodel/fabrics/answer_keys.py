"""What of a fabric its answers depend on, so that they are found once for all fabrics that are alike in it."""

from collections.abc import Hashable
from functools import cached_property
from typing import ClassVar

from costmodel.fabrics.group_plans import PlanMenu
from costmodel.spec import Spec


class AnswerKeys(Spec):
    """All of it, unless a kind of fabric knows better."""

    combines_all: ClassVar[bool] = False
    """whether any plans of all dimensions go together, in servers and beyond"""

    @cached_property
    def layout_key(self) -> str:
        """All that blocks depend on: equal for fabrics whose servers and racks are alike."""
        return f"{type(self).__name__} {self.model_dump_json()}"

    def menu_key(self, menu: PlanMenu) -> Hashable:
        """All that `combinations` depends on of one menu: menus of equal keys are combined alike."""
        return len(menu) if self.combines_all else menu
