"""Nodes and servers: who is cordoned here is drained there, who is not ready has failed, and back."""

import logging

from planner.controller.controller import Controller
from planner.integrations.kubernetes.client import ApiError, KubernetesClient, Object, path_of
from planner.integrations.kubernetes.config import DOMAIN, KubernetesSite
from planner.integrations.kubernetes.informer import Informer
from planner.model.errors import InputError

DOWN = f"{DOMAIN}/down"
"""annotation of a node whose server was drained, or failed, for its sake: what others have drained stays so"""
log = logging.getLogger("planner.kubernetes")


class Nodes:
    """The health of servers follows that of their nodes."""

    def __init__(self, controller: Controller, api: KubernetesClient, site: KubernetesSite) -> None:
        self.informer = Informer(api, path_of("v1", "nodes"))
        self._controller, self._api, self._site = controller, api, site
        self._gone: set[str] = set()
        """servers that have failed and whose node, not there any more, could not be marked; also after a restart"""

    def label(self, node: str) -> str:
        """Value of the label of a node that selectors go by: most often its name."""
        about = self.informer.objects.get(("", node), {}).get("metadata", {})
        return str((about.get("labels") or {}).get(self._site.config.node_label, node))

    def follow(self) -> None:
        """Tell the controller what has changed."""
        view = self._controller.view(0)
        down = {"failed": set(view.failed), "drained": set(view.drained)}
        for node, server in self._site.server_of.items():
            item = self.informer.objects.get(("", node))
            if item is None:
                self._gone.add(server)
                if server not in down["failed"]:
                    self._controller.fail(server)
                continue
            marked, wanted = (item["metadata"].get("annotations") or {}).get(DOWN, ""), _state(item)
            if server in self._gone and (wanted != "failed" or marked == "failed"):
                self._gone.discard(server)
                if wanted != "failed":
                    self._undo("failed", server)
            is_down = wanted != "" and server in down[wanted] and server not in self._gone
            if marked != wanted and (marked or not is_down):
                self._mark(node, item, server, marked, wanted)
            elif marked and not is_down:
                self._do(wanted, server)

    def _mark(self, node: str, item: Object, server: str, marked: str, wanted: str) -> None:
        """The mark comes before what it stands for, and goes after it: whoever dies in between finds it again."""
        about = {"annotations": {DOWN: wanted or None}, "resourceVersion": item["metadata"].get("resourceVersion")}
        try:
            if not wanted:
                self._undo(marked, server)
            self._api.patch(path_of("v1", "nodes", name=node), {"metadata": about})
        except ApiError as error:
            if error.is_of_all:
                raise
            log.warning("node %s: %s", node, error)
            return
        if wanted:
            self._do(wanted, server)
            if marked:
                self._undo(marked, server)

    def _do(self, wanted: str, server: str) -> None:
        if wanted == "failed":
            self._controller.fail(server)
        else:
            self._controller.drain(server)

    def _undo(self, marked: str, server: str) -> None:
        try:
            if marked == "failed":
                self._controller.repair(server)
            else:
                self._controller.undrain(server)
        except InputError:
            log.info("server %s is up already", server)


def _state(item: Object) -> str:
    """State that the server of a node is to have: "" (in use), "drained" or "failed"."""
    conditions = (item.get("status") or {}).get("conditions") or ()
    is_ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
    if not is_ready:
        return "failed"
    return "drained" if (item.get("spec") or {}).get("unschedulable") else ""
