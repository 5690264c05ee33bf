"""Documents of the repository as pages of the manual: where each stands there, and its links made to fit."""

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

PAGE_OF: Mapping[str, str] = {
    "planner/RULES.md": "rules.md",
    "planner/GLOSSARY.md": "glossary.md",
    "planner/ARCHITECTURE.md": "architecture.md",
    "planner/INSIDE.md": "inside.md",
    "planner/fabrics/README.md": "tutorials/fabric.md",
    "planner/policies/README.md": "policies.md",
    "planner/cpsat/README.md": "constraints.md",
    "planner/cpsat/step1/objectives/README.md": "objectives.md",
    "planner/integrations/switch_drivers/README.md": "drivers.md",
    "costmodel/workloads/README.md": "workloads.md",
    "instances/replay/STUDY.md": "study.md",
    "instances/sipam/GAINS.md": "gains.md",
    ".github/CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "README.md": "index.md",
}
"""page of the manual for each document of the repository"""
MANUAL = "planner/docs/"
"""folder of the pages that are written for the manual"""
PICTURES = ".github/"
_LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


def document_pages(root: Path) -> dict[str, str]:
    """Text of each page that stands in the repository as a document of its own, by its place in the manual."""
    own = {document: page for document, page in PAGE_OF.items() if document != "README.md"}
    return {page: relinked((root / document).read_text("utf-8"), document) for document, page in own.items()}


def page_of(document: str) -> str | None:
    """Place in the manual of a file of the repository; None where the manual has it not."""
    if document.startswith(MANUAL):
        return document.removeprefix(MANUAL)
    if document.startswith(PICTURES) and document.endswith(".png"):
        return f"pictures/{document.removeprefix(PICTURES)}"
    return PAGE_OF.get(document)


def relinked(text: str, document: str) -> str:
    """The text of a document with its links as the manual has them; what the manual lacks is named, not linked."""

    def changed(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target:
            return match[0]
        named = posixpath.normpath(posixpath.join(posixpath.dirname(document), target))
        page = page_of(named)
        if page is None:
            return f"{words} (`{named}`)" if words != named else f"`{named}`"
        from_page = posixpath.dirname(PAGE_OF[document])
        return f"[{words}]({posixpath.relpath(page, from_page or '.')}{anchor})"

    return _LINK.sub(changed, text)
