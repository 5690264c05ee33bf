"""Answers of the extender as kube-scheduler reads them: its types have no JSON tags, so that keys are capitalised."""

from collections.abc import Sequence

from planner.integrations.kubernetes.config import Object
from planner.integrations.kubernetes.extender import PodVerdict

MOST_SCORE = 10
"""of an extender's scale"""


def filter_result(verdict: PodVerdict, names: Sequence[str], nodes: Sequence[Object] | None) -> Object:
    """ExtenderFilterResult: the node of the pod's assignment, and of all others why not. `nodes`: objects of the same
    nodes, where the scheduler sent and wants objects rather than names."""
    if verdict.is_anywhere:
        kept, failed = list(names), dict[str, str]()
    elif verdict.assignment is None:
        kept, failed = [], dict.fromkeys(names, verdict.why)
    else:
        planned = verdict.assignment.node
        kept = [name for name in names if name == planned]
        because = f"the pod was planned for {planned}" + ("" if kept else ", which the scheduler has ruled out")
        failed = {name: because for name in names if name != planned}
    result: Object = {"FailedNodes": {}, "FailedAndUnresolvableNodes": {}, "Error": ""}
    result["FailedAndUnresolvableNodes" if verdict.never else "FailedNodes"] = failed
    if nodes is None:
        return result | {"NodeNames": kept}
    return result | {"Nodes": {"items": [node for node in nodes if node["metadata"]["name"] in kept]}}


def priorities(verdict: PodVerdict, names: Sequence[str]) -> list[Object]:
    """HostPriorityList: the most for the node of the assignment."""
    planned = None if verdict.assignment is None else verdict.assignment.node
    return [{"Host": name, "Score": MOST_SCORE if name == planned else 0} for name in names]
