"""All writes of an emulated API, and what lists and watches show of them.

As `k8s.io/apiserver` does: a list of several pages is of one moment, until that is forgotten; a watch tells what comes
after a version, or everything first; what is wrong in the options of a request is refused.
"""

import base64
import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.planner.integrations.kubernetes.published import Refused
from tests.planner.integrations.kubernetes.selectors import matcher

BOOKMARK_BEFORE_END_S = 2
"""a watch that ends sooner has no bookmark: the server sends one so long before the end, and else each minute"""
OPTION, MATCH, INITIAL_END = "sendInitialEvents", "resourceVersionMatch", "k8s.io/initial-events-end"
Raw = dict[str, Any]
Key = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """One write: an object before it and after it, None where it was not, or is no more."""

    version: int
    resource: Any
    before: Raw | None
    after: Raw | None


@dataclass(frozen=True)
class Read:
    """A list or a watch: kind of its objects, namespace and options."""

    resource: Any
    kind: str
    namespace: str | None
    params: Mapping[str, str]

    @property
    def plural(self) -> str:
        return str(self.resource.plural)

    @property
    def api_version(self) -> str:
        return "/".join(filter(None, (self.resource.group, self.resource.version)))

    def shows(self) -> Callable[[Raw], bool]:
        """Whether an object is in the namespace, and selected."""
        selected = matcher(self.params, self.plural)
        return lambda raw: self.namespace in (None, raw["metadata"].get("namespace")) and selected(raw)

    def sent(self, raw: Raw) -> Raw:
        """As an item of a list: those of Kubernetes' own kinds do not say their kind."""
        is_own = "." not in str(self.resource.group or "")
        return {key: one for key, one in raw.items() if not (is_own and key in ("kind", "apiVersion"))}


@dataclass
class History:
    """Writes in their order."""

    version: int = 0
    oldest: int = 0
    """versions before it are forgotten: 410"""
    changes: list[Change] = field(default_factory=list)
    watch_lists: Literal["known", "off", "unknown"] = "known"
    """whether watches may begin with all objects: as of 1.27 by a feature gate; servers that know nothing of it do not
    read the option"""
    lag: int = 0
    """writes that the watch cache of the server is behind: they follow the objects that a watch begins with"""

    def note(self, resource: Any, before: Raw | None, after: Raw | None) -> None:
        self.changes.append(Change(self.version, resource, before, copy.deepcopy(after)))

    def page(self, read: Read, most: int) -> Raw:
        """The answer to a list, `most` objects at once."""
        self._require_list_options(read.params)
        version, start = self._where(read.params)
        shows = read.shows()
        items = [(_key(raw), raw) for raw in self._at(read.resource, version) if shows(raw)]
        left = sorted((one for one in items if list(one[0]) >= start), key=lambda one: one[0])
        size = min(int(read.params.get("limit") or 0) or len(left) or 1, most if "limit" in read.params else len(left))
        about: Raw = {"resourceVersion": str(version)}
        if len(left) > size:
            about |= {"continue": _token(version, left[size][0]), "remainingItemCount": len(left) - size}
        return {
            "kind": f"{read.kind}List", "apiVersion": read.api_version, "metadata": about,
            "items": [read.sent(raw) for _, raw in left[:size]],
        }  # fmt: skip

    def events(self, read: Read) -> Iterator[Raw]:
        """What a watch tells; what an ERROR event ends is over."""
        params = read.params
        is_initial = self._has_initial_events(params)
        after = _number(params.get("resourceVersion") or "0")
        if after > self.version:
            raise Refused(504, "Timeout", f"Too large resource version: {after}, current: {self.version}")
        if after and not is_initial and after < self.oldest:
            yield {"type": "ERROR", "object": _expired(f"too old resource version: {after} ({self.oldest})")}
            return
        shows = read.shows()
        if is_initial or not after:
            after = max(self.version - self.lag, self.oldest, after) if is_initial else self.version
            yield from ({"type": "ADDED", "object": raw} for raw in self._at(read.resource, after) if shows(raw))
        told = (_told(one, shows) for one in list(self.changes) if one.version > after)
        same = (one.resource == read.resource for one in list(self.changes) if one.version > after)
        yield from (event for event, is_same in zip(told, same, strict=True) if is_same and event is not None)
        if params.get("allowWatchBookmarks") == "true" and (
            is_initial or int(params.get("timeoutSeconds") or 1800) > BOOKMARK_BEFORE_END_S
        ):
            yield {"type": "BOOKMARK", "object": self._bookmark(read, is_initial=is_initial)}

    def _bookmark(self, read: Read, *, is_initial: bool) -> Raw:
        """An object of the kind with a version alone; empty fields that the type requires are null."""
        about: Raw = {"resourceVersion": str(self.version), "creationTimestamp": None}
        if is_initial:
            about["annotations"] = {INITIAL_END: "true"}
        empty = {"spec": {"containers": None}, "status": {}} if read.kind == "Pod" else {}
        return {"kind": read.kind, "apiVersion": read.api_version, "metadata": about} | empty

    def _at(self, resource: Any, version: int) -> list[Raw]:
        """Objects as they were at a version."""
        found: dict[Key, Raw] = {}
        for change in self.changes:
            if change.version > version:
                break
            if change.resource == resource:
                key = _key(change.after or change.before or {})
                if change.after is None:
                    found.pop(key, None)
                else:
                    found[key] = change.after
        return list(found.values())

    def _where(self, params: Mapping[str, str]) -> tuple[int, list[str]]:
        """Version and first key of a page."""
        if "continue" not in params:
            wanted = _number(params.get("resourceVersion") or "0")
            if wanted > self.version:
                raise Refused(504, "Timeout", f"Too large resource version: {wanted}, current: {self.version}")
            if params.get("resourceVersionMatch") == "Exact" and wanted < self.oldest:
                raise Refused(410, "Expired", "The provided resource version is too old to be listed")
            return (wanted if params.get("resourceVersionMatch") == "Exact" else self.version), ["", ""]
        try:
            known = json.loads(base64.urlsafe_b64decode(params["continue"] + "=="))
            version, start = int(known["rv"]), [str(one) for one in known["start"]]
        except (ValueError, KeyError, TypeError):
            raise Refused(400, "BadRequest", "continue key is not valid") from None
        if version < self.oldest:
            said = "The provided continue parameter is too old to display a consistent list result"
            raise Refused(410, "Expired", said)
        return version, start

    @staticmethod
    def _require_list_options(params: Mapping[str, str]) -> None:
        version, match = params.get("resourceVersion", ""), params.get("resourceVersionMatch", "")
        if params.get("sendInitialEvents"):
            raise Refused(422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list")
        if match and (not version or match not in ("Exact", "NotOlderThan")):
            raise Refused(422, "Invalid", f"{MATCH}: '{match}' is not allowed here")
        if match == "Exact" and version == "0":
            raise Refused(422, "Invalid", 'resourceVersionMatch: "Exact" is forbidden for resourceVersion "0"')
        if params.get("continue") and (match or version not in ("", "0")):
            raise Refused(400, "BadRequest", "specifying resource version is not allowed when using continue")
        _number(params.get("limit") or "0")

    def _has_initial_events(self, params: Mapping[str, str]) -> bool:
        """`validateWatchOptions` of apimachinery: all that is wrong is told at once."""
        if self.watch_lists == "unknown":
            return False
        wanted, match = params.get("sendInitialEvents"), params.get("resourceVersionMatch", "")
        wrong: list[str] = []
        if wanted is not None and match != "NotOlderThan":
            wrong += [f"{MATCH}: Forbidden: {OPTION} requires setting {MATCH} to NotOlderThan"]
        if wanted is not None and self.watch_lists == "off":
            said = "is forbidden for watch unless the WatchList feature gate is enabled"
            wrong += [f"{OPTION}: Forbidden: {OPTION} {said}"]
        if match and wanted is None:
            wrong += [f"{MATCH}: Forbidden: it is forbidden for watch unless {OPTION} is provided"]
        if match not in ("", "NotOlderThan"):
            wrong += [f"{MATCH}: Unsupported value: '{match}'"]
        if match and params.get("continue"):
            wrong += [f"{MATCH}: Forbidden: it is forbidden when continue is provided"]
        if wrong:
            raise Refused(422, "Invalid", f'ListOptions.meta.k8s.io "" is invalid: {"; ".join(wrong)}')
        if params.get("continue") or params.get("limit"):
            raise Refused(400, "BadRequest", "limit and continue are not supported when watch is true")
        return wanted is not None and wanted.lower() not in ("0", "false")


def _told(change: Change, shows: Callable[[Raw], bool]) -> Raw | None:
    """A write as a watch tells it: what enters a selection is added, what leaves it is deleted."""
    was = change.before is not None and shows(change.before)
    if change.after is not None and shows(change.after):
        return {"type": "MODIFIED" if was else "ADDED", "object": change.after}
    if not was or change.before is None:
        return None
    about = change.before["metadata"] | {"resourceVersion": str(change.version)}
    return {"type": "DELETED", "object": change.before | {"metadata": about}}


def _expired(said: str) -> Raw:
    about = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return about | {"message": said, "reason": "Expired", "code": 410}


def _key(raw: Raw) -> Key:
    return str(raw["metadata"].get("namespace") or ""), str(raw["metadata"]["name"])


def _token(version: int, key: Key) -> str:
    return base64.urlsafe_b64encode(json.dumps({"rv": version, "start": key}).encode()).decode().rstrip("=")


def _number(text: str) -> int:
    if not text.isdigit():
        raise Refused(400, "BadRequest", f"invalid resource version or limit: '{text}'")
    return int(text)
