"""The page of the manual on the Python API: a section for each public name, filled in by mkdocstrings."""

from planner.api import API_VERSION, MODULE_OF_NAME, __all__

INTRODUCTION = f"""# Python

`planner.api` has every name that scripts, policies and fabrics of other distributions may import; this is version
{API_VERSION}. Names stay and keep their meaning while its first number stays; the second counts additions. What is not
listed here is private and may change in any release.
"""


def api_page() -> str:
    """Every public name where it is written, functions first."""
    names = sorted(set(__all__) - {"API_VERSION"}, key=lambda name: (name[0].isupper(), name))
    return "\n".join([INTRODUCTION, *(f"::: {MODULE_OF_NAME.get(name, 'planner.api')}.{name}\n" for name in names)])
