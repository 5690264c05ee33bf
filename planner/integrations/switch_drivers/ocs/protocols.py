"""Which class asks a switch, by the protocol that it speaks; each is imported where some switch needs it."""

from collections.abc import Callable

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.switch import OcsSwitch
from planner.integrations.switch_drivers.recorded import unfenced


def switch_of(site: SwitchSite, name: str, fence: Callable[[], int] = unfenced) -> OcsSwitch:
    """ModuleNotFoundError where a library of its protocol is not installed."""
    protocol = site.access[name].protocol
    if protocol == "gnmi":
        from planner.integrations.switch_drivers.ocs.sonic_gnmi import SonicGnmiSwitch

        return SonicGnmiSwitch(site, name, fence)
    if protocol == "openconfig":
        from planner.integrations.switch_drivers.ocs.openconfig import OpenConfigOcs

        return OpenConfigOcs(site, name, fence)
    if protocol == "tl1":
        from planner.integrations.switch_drivers.ocs.tl1 import Tl1Switch

        return Tl1Switch(site, name, fence)
    if protocol == "scpi":
        from planner.integrations.switch_drivers.ocs.scpi import ScpiSwitch

        return ScpiSwitch(site, name, fence)
    from planner.integrations.switch_drivers.ocs.restconf import RestconfSwitch

    return RestconfSwitch(site, name, fence)
