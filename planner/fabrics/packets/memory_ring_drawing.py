"""Why a fabric of rings draws no circuits."""

from planner.fabrics.drawing import Drawing


class MemoryRingDrawing(Drawing):
    """Links are fixed."""

    why_none = "Links of nodes and to memory nodes are fixed, packets go between nodes: this fabric has no circuits."
