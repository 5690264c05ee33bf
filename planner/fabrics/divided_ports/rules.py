"""The rules of appliances that accelerators share, in one table."""

from collections.abc import Mapping
from typing import ClassVar

from planner.checks.fabric_rules import FabricRules
from planner.fabrics.divided_ports.rule_shares import check_shares
from planner.model.violation import Check


class DividedPortsRules(FabricRules):
    """Packets between servers; memory is behind ports, so that a device without one runs nothing."""

    after: ClassVar[str] = "second_tier"

    @property
    def checks(self) -> Mapping[str, Check]:
        return {"shares": check_shares}

    @property
    def starts(self) -> tuple[Check, ...]:
        return ()
