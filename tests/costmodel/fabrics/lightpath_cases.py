"""Shared by the tests of `base`, `fat_tree`, `group_plans` and `lightpath`."""

from typing import Any

from costmodel.fabrics import FatTree, Lightpath
from tests.costmodel.pricing.score_cases import FAT_TREE, LIGHTPATH


def lightpath(**changes: Any) -> Lightpath:
    return Lightpath.model_validate(LIGHTPATH | changes)


def fat_tree(**changes: Any) -> FatTree:
    return FatTree.model_validate(FAT_TREE | changes)
