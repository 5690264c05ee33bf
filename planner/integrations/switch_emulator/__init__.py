"""Optical switches on this machine that speak RESTCONF of `sonic-ocs`, with the traps of the standard and faults by
seed, and a referee who reads where their light goes.
"""

from planner.integrations.switch_emulator.emulator import Emulator, SwitchSpec
from planner.integrations.switch_emulator.faults import FaultKind, FaultRate, RequestClass
from planner.integrations.switch_emulator.light import LightInterval
from planner.integrations.switch_emulator.referee import Finding, FindingKind, Holding, judge
from planner.integrations.switch_emulator.table_watch import TableWatch

__all__ = [
    "Emulator", "FaultKind", "FaultRate", "Finding", "FindingKind", "Holding", "LightInterval", "RequestClass",
    "SwitchSpec", "TableWatch", "judge",
]  # fmt: skip
