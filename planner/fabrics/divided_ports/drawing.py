"""Names of memory behind optical ports."""

from planner.fabrics.drawing import Drawing


class DividedPortsDrawing(Drawing):
    """Ports are counted, not named, so that nothing is drawn."""

    memory_unit = "module"
    memory_port = "optical port"
    why_none = "How many ports reach memory is planned, not which; packets are switched: plans list no circuits."
