"""Nodes and servers: who is cordoned here is drained there, who is not ready has failed, and back.

Of several nodes that are one server each fails with its own accelerators. Only whole servers are drained, for as long
as one of their nodes is cordoned.
"""

import logging

from planner.controller.controller import Controller
from planner.integrations.kubernetes.client import ApiError, KubernetesClient, Object, path_of
from planner.integrations.kubernetes.config import DOMAIN, KubernetesSite
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.pod_groups import whole_number
from planner.model.errors import InputError

DOWN = f"{DOMAIN}/down"
"""annotation of a node whose parts were drained, or failed, for its sake: what others have drained stays so"""
log = logging.getLogger("planner.kubernetes")


class Nodes:
    """The health of servers follows that of their nodes."""

    def __init__(self, controller: Controller, api: KubernetesClient, site: KubernetesSite) -> None:
        self.informer = Informer(api, path_of("v1", "nodes"))
        self._controller, self._api, self._site = controller, api, site
        self._gone: set[str] = set()
        """nodes that are not there any more and could not be marked, and whose parts have failed; also after a
        restart"""
        self._uneven: set[str] = set()
        """nodes of which it was said that they have another number of accelerators than their share"""

    def label(self, node: str) -> str:
        """Value of the label of a node that selectors go by: most often its name."""
        about = self.informer.objects.get(("", node), {}).get("metadata", {})
        return str((about.get("labels") or {}).get(self._site.config.node_label, node))

    def follow(self) -> None:
        """Tell the controller what has changed."""
        view = self._controller.view(0)
        down = {"failed": set(view.failed), "drained": set(view.drained)}
        for node in self._site.server_of:
            item = self.informer.objects.get(("", node))
            if item is None:
                self._gone.add(node)
                if not down["failed"].issuperset(self._parts("failed", node)):
                    self._do("failed", node)
                continue
            marked, wanted = _mark_of(item), self._wanted(node, item)
            if node in self._gone and (wanted != "failed" or marked == "failed"):
                self._gone.discard(node)
                if wanted != "failed":
                    self._undo("failed", node)
            is_down = wanted != "" and down[wanted].issuperset(self._parts(wanted, node)) and node not in self._gone
            if marked != wanted and (marked or not is_down or self._is_marked_with(node, wanted)):
                self._mark(node, item, marked, wanted)
            elif marked and not is_down:
                self._do(wanted, node)

    def _mark(self, node: str, item: Object, marked: str, wanted: str) -> None:
        """The mark comes before what it stands for, and goes after it: whoever dies in between finds it again."""
        about = {"annotations": {DOWN: wanted or None}, "resourceVersion": item["metadata"].get("resourceVersion")}
        if marked == "drained" and any(_mark_of(other) != "drained" for other in self._cordoned_with(node)):
            return
        try:
            if not wanted:
                self._undo(marked, node)
            self._api.patch(path_of("v1", "nodes", name=node), {"metadata": about})
        except ApiError as error:
            if error.is_of_all:
                raise
            log.warning("node %s: %s", node, error)
            return
        if wanted:
            self._do(wanted, node)
            if marked:
                self._undo(marked, node)

    def _do(self, wanted: str, node: str) -> None:
        for part in self._parts(wanted, node):
            if wanted == "failed":
                self._controller.fail(part)
            else:
                self._controller.drain(part)

    def _undo(self, marked: str, node: str) -> None:
        if marked == "drained" and self._cordoned_with(node):
            return
        for part in self._parts(marked, node):
            try:
                if marked == "failed":
                    self._controller.repair(part)
                else:
                    self._controller.undrain(part)
            except InputError:
                log.info("%s is up already", part)

    def _parts(self, state: str, node: str) -> tuple[str, ...]:
        """What is to be in a state for the sake of a node."""
        return self._site.parts_of[node] if state == "failed" else (self._site.server_of[node],)

    def _others(self, node: str) -> list[tuple[str, Object]]:
        """The other nodes of its server, as the API shows them."""
        names = self._site.nodes_of[self._site.server_of[node]]
        found = ((name, self.informer.objects.get(("", name))) for name in names if name != node)
        return [(name, item) for name, item in found if item is not None]

    def _cordoned_with(self, node: str) -> list[Object]:
        """Other nodes for whose sake its server is to be drained."""
        return [item for name, item in self._others(node) if self._wanted(name, item) == "drained"]

    def _is_marked_with(self, node: str, wanted: str) -> bool:
        """True if its server is drained for the sake of another of its nodes, and now for its own, too."""
        return wanted == "drained" and any(_mark_of(item) == wanted for _, item in self._others(node))

    def _wanted(self, node: str, item: Object) -> str:
        """State that a node is to have here: "" (in use), "drained" or "failed"."""
        status = item.get("status") or {}
        is_ready = any(
            one.get("type") == "Ready" and one.get("status") == "True" for one in status.get("conditions") or ()
        )
        if not is_ready or self._is_uneven(node, status.get("capacity") or {}):
            return "failed"
        return "drained" if (item.get("spec") or {}).get("unschedulable") else ""

    def _is_uneven(self, node: str, capacity: Object) -> bool:
        """True if one of several nodes of a server says that it has another number of accelerators than its share."""
        named = [str(capacity[resource]) for resource in self._site.config.resources if resource in capacity]
        if self._site.nodes_per_server == 1 or not named:
            return False
        share, total = self._site.per_node, sum(whole_number(text) or 0 for text in named)
        if total == share:
            self._uneven.discard(node)
        elif node not in self._uneven:
            self._uneven.add(node)
            log.error(
                "node %s has %d accelerators and its share of server %s is %d: it counts as failed; give the server as"
                " many nodes in `nodes` as share its %d",
                node, total, self._site.server_of[node], share, self._site.per_server,
            )  # fmt: skip
        return total != share


def _mark_of(item: Object) -> str:
    return str((item["metadata"].get("annotations") or {}).get(DOWN, ""))
