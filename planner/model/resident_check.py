"""The check of jobs that run already, which an instance asks for and the layer of fabrics answers.

Whether a job can be running as a file says depends on the fabric, of which the model of files knows nothing. So the
package `planner` says here who checks, before any instance is made.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.model.cluster import Cluster
    from planner.model.job import Resident

    ResidentCheck = Callable[[Cluster, Sequence[Resident]], None]

_checks: "list[ResidentCheck]" = []


def answered_by(check: "ResidentCheck") -> None:
    """Residents of every instance are checked by this from now on; it raises ValueError where one cannot run so."""
    _checks[:] = [check]


def check_residents(cluster: "Cluster", residents: "Sequence[Resident]") -> None:
    """Raise ValueError for a resident that cannot be running as the file says."""
    (check,) = _checks
    check(cluster, residents)
