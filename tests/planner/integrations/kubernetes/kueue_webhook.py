"""What the webhook of Kueue adds to the schema of a Workload's status: its updates of pod sets.

`pkg/webhooks/workload_webhook.go`: names are those of the pod sets; what was said with Ready is said for good. Earlier
releases also want an update for each pod set, or none at all.
"""

from typing import Any

from tests.planner.integrations.kubernetes.published import Refused


def require_kueue(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Refused for a status that the webhook denies."""
    known = [one["name"] for one in after["spec"].get("podSets") or ()]
    earlier = {one["name"]: one for one in before.get("status", {}).get("admissionChecks") or ()}
    for check in after.get("status", {}).get("admissionChecks") or ():
        updates = check.get("podSetUpdates") or []
        names = [one["name"] for one in updates]
        if updates and len(updates) != len(known):
            raise Refused(422, "Invalid", "podSetUpdates: must have the same number of podSetUpdates as the podSets")
        if not {*names} <= {*known} or len({*names}) != len(names):
            raise Refused(422, "Invalid", f"podSetUpdates: name: Unsupported value, supported: {known}")
        was = earlier.get(check["name"])
        if (
            was is not None
            and was["state"] == check["state"] == "Ready"
            and (was.get("podSetUpdates") or []) != updates
        ):
            raise Refused(422, "Invalid", "podSetUpdates: field is immutable")
