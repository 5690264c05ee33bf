"""Objects of one kind as the API has them: listed once, then kept by watching."""

from collections.abc import Callable

from planner.integrations.kubernetes.client import GONE, ApiError, KubernetesClient, Object


class Informer:
    """One list of objects by namespace and name.

    All objects of a path are watched. What labels select is their owners' to edit: an object whose label goes would be
    told as deleted.
    """

    def __init__(
        self, api: KubernetesClient, path: str, *, keeps: Callable[[Object], bool] = lambda item: True, wait_s: int = 1
    ) -> None:
        """`keeps`: which objects are of interest, by what nobody can edit."""
        self.objects: dict[tuple[str, str], Object] = {}
        """never changed in place: others may read it meanwhile"""
        self._api, self._path, self._keeps, self._wait_s = api, path, keeps, wait_s
        self._version = ""
        self._is_known = False

    @property
    def is_known(self) -> bool:
        """True if the list has been read at least once."""
        return self._is_known

    def refresh(self) -> None:
        """Follow what has changed for at most `wait_s`; ApiError leaves what was known, and the next call goes on."""
        if not self._version:
            self._list()
            return
        objects = dict(self.objects)
        try:
            for kind, item in self._api.watch(self._path, self._version, self._wait_s):
                if kind == "ERROR":
                    self._version = ""
                    raise ApiError(int(item.get("code") or 0), str(item.get("message") or "the watch has ended"))
                self._apply(objects, kind, item)
                self._version = str(item["metadata"].get("resourceVersion") or "")
        except ApiError as error:
            if error.status != GONE:
                raise
            self._version = ""
        finally:
            self.objects = objects
        if not self._version:
            self._list()

    def _list(self) -> None:
        items, self._version = self._api.list(self._path, self._keeps)
        self.objects = {key(item): item for item in items}
        self._is_known = True

    def _apply(self, objects: dict[tuple[str, str], Object], kind: str, item: Object) -> None:
        if kind == "BOOKMARK":
            return
        if kind == "DELETED" or not self._keeps(item):
            objects.pop(key(item), None)
        else:
            objects[key(item)] = item


def key(item: Object) -> tuple[str, str]:
    """Namespace, or nothing, and name."""
    about = item["metadata"]
    return str(about.get("namespace") or ""), str(about["name"])
