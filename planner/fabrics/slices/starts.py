"""Where the search on slices starts from."""

from planner.fabrics.starts import Starts


class SlicedStarts(Starts):
    """First fit of slices leaves gaps that another order of the jobs fills."""

    are_improved = True
