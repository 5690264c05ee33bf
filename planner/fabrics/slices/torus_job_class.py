"""Classes of jobs on a torus: those that ask for a box have the rows of that box alone."""

import numpy as np

from costmodel.fabrics import Torus
from costmodel.fabrics.boxes import Sides
from planner.fabrics.job_class import JobClassRules
from planner.fabrics.problem import JobOptions


class TorusJobClassRules(JobClassRules):
    """Boxes of a torus."""

    def with_box(self, options: JobOptions, box: Sides) -> JobOptions:
        """Rows whose ranks all lie on one box of these extents, in any orientation."""
        fabric = options.fabric
        assert isinstance(fabric, Torus)
        extents = [sorted(fabric.box(options.candidates.row_plans(row))) for row in range(len(options))]
        return options.take(np.flatnonzero([each == sorted(box) for each in extents]))
