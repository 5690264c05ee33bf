"""Measures of a replay in which faults are answered, beside those of every replay."""

from planner.simulate.measures import Measure

FAULT_MEASURES: dict[str, Measure] = {
    "evictions": Measure("evictions", "", "running jobs that a fault sent back to the queue", "less"),
    "restarts": Measure("restarts", "", "times that a job went on from its last checkpoint", "less"),
    "moved_accelerators": Measure(
        "accelerators moved", "", "accelerators that jobs changed at once because of faults", "less"
    ),
    "used_h": Measure("used", "h", "accelerator-hours held by jobs whose work was kept"),
    "wasted_h": Measure(
        "wasted",
        "h",
        "accelerator-hours held by jobs that restarted, or that did work that was lost",
        "less",
    ),
    "idle_h": Measure("idle", "h", "accelerator-hours that worked and no job held, spares left out"),
    "spare_h": Measure("spare", "h", "accelerator-hours kept free for faults"),
    "down_h": Measure("down", "h", "accelerator-hours failed or drained"),
}
"""used, wasted, idle, spare and down are all there is"""
