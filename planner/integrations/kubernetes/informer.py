"""Objects of one kind as the API has them: listed once, then kept by watching."""

import logging
from collections.abc import Callable

from planner.integrations.kubernetes.client import (
    BUSY,
    GONE,
    ApiError,
    KubernetesClient,
    NoAnswerError,
    SilenceError,
)
from planner.integrations.kubernetes.config import Object
from planner.integrations.kubernetes.watch_list import Objects, apply, error_of, key, watch_list

NO_STREAMS = (400, 422)
"""answers of an API that has no lists by a watch"""
NO_LIST_EITHER = (401, 403, BUSY)
"""answers after which a list by pages is not tried"""
log = logging.getLogger("planner.kubernetes")


class Informer:
    """One list of objects by namespace and name.

    All objects of a path are watched. What labels select is their owners' to edit: an object whose label goes would be
    told as deleted.
    """

    def __init__(
        self, api: KubernetesClient, path: str, *, keeps: Callable[[Object], bool] = lambda item: True, wait_s: int = 1
    ) -> None:
        """`keeps`: which objects are of interest, by what nobody can edit."""
        self.objects: Objects = {}
        """never changed in place: others may read it meanwhile"""
        self._api, self._path, self._keeps, self._wait_s = api, path, keeps, wait_s
        self._version = ""
        self._is_known, self._has_streams = False, True

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
                    raise error_of(item)
                apply(objects, kind, item, self._keeps)
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
        self.objects, self._version = self._streamed() if self._has_streams else self._paged()
        self._is_known = True

    def _streamed(self) -> tuple[Objects, str]:
        """All objects as the first events of a watch; by pages where the API has no such lists, or they do not work
        now: that is better than not at all, where somebody answers."""
        has_streams, why = False, "a watch does not begin with all objects"
        try:
            found = watch_list(self._api, self._path, self._keeps)
        except ApiError as error:
            if isinstance(error, NoAnswerError) or error.status in NO_LIST_EITHER:
                raise
            has_streams = error.status not in NO_STREAMS and not isinstance(error, SilenceError)
            found, why = None, str(error)
        if found is None:
            found = self._paged()
            self._has_streams = has_streams
            log.info("%s is listed by pages: %s", self._path, why)
        return found

    def _paged(self) -> tuple[Objects, str]:
        items, version = self._api.list(self._path, self._keeps)
        return {key(item): item for item in items}, version
