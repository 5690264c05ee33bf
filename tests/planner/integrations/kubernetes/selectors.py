"""Label and field selectors as an API server reads them; Refused for what it would not."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.planner.integrations.kubernetes.published import Refused

_KEY = r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_VALUE = r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
_EQUAL = re.compile(rf"(?P<key>{_KEY})\s*(?P<op>==|=|!=)\s*(?P<value>{_VALUE})")
_AMONG = re.compile(rf"(?P<key>{_KEY})\s+(?P<op>in|notin)\s+\((?P<value>[^()]*)\)")
_THERE = re.compile(rf"(?P<op>!?)\s*(?P<key>{_KEY})")
FIELDS: Mapping[str, frozenset[str]] = {
    "pods": frozenset(
        {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
         "status.phase", "status.podIP", "status.nominatedNodeName"}
    ),
    "nodes": frozenset({"spec.unschedulable"}),
}  # fmt: skip
"""beside metadata.name and metadata.namespace, which all kinds have; custom resources have no others"""
Test = Callable[[Mapping[str, Any]], bool]


def matcher(params: Mapping[str, str], plural: str) -> Test:
    """Whether the selectors of a request show an object."""
    labels = [_label(one) for one in _split(params.get("labelSelector", ""))]
    fields = [_field(one, plural) for one in _split(params.get("fieldSelector", ""))]
    return lambda raw: all(one(raw) for one in (*labels, *fields))


def _split(text: str) -> list[str]:
    """At commas outside of parentheses."""
    return [one.strip() for one in re.split(r",(?![^(]*\))", text)] if text.strip() else []


def _label(text: str) -> Test:
    for pattern in (_EQUAL, _AMONG, _THERE):
        found = pattern.fullmatch(text)
        if found is not None:
            key, op = found["key"], found["op"]
            values = {one.strip() for one in found["value"].split(",")} if "value" in found.groupdict() else set()
            return lambda raw: _holds((raw["metadata"].get("labels") or {}).get(key), op, values)
    raise Refused(400, "BadRequest", f"unable to parse requirement: {text}")


def _holds(value: str | None, op: str, values: set[str]) -> bool:
    if op in ("", "!"):
        return (value is None) == (op == "!")
    return (value in values) == (op in ("=", "==", "in"))


def _field(text: str, plural: str) -> Test:
    key, op, value = re.split(r"(!=|==|=)", text, maxsplit=1) if "=" in text else (text, "", "")
    if not op:
        raise Refused(400, "BadRequest", f"invalid selector: '{text}'; can't understand '{text}'")
    if key not in {"metadata.name", "metadata.namespace"} | FIELDS.get(plural, frozenset()):
        raise Refused(400, "BadRequest", f"field label not supported: {key}")

    def test(raw: Mapping[str, Any]) -> bool:
        found: Any = raw
        for part in key.split("."):
            found = (found or {}).get(part)
        shown = str(found).lower() if isinstance(found, bool) else str(found or ("false" if _is_flag(key) else ""))
        return (shown == value) == (op != "!=")

    return test


def _is_flag(key: str) -> bool:
    return key in ("spec.unschedulable", "spec.hostNetwork")
