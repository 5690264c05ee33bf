"""Adds to the manual what is not written for it alone: references from the code, documents of the repository."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from planner.cli.commands_page import commands_page
from planner.reference.api_page import api_page
from planner.reference.documents import document_pages
from planner.reference.field_pages import instance_page, other_files_page

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs once it has listed the files of this folder."""
    pages = document_pages(ROOT) | {
        "reference/commands.md": commands_page(),
        "reference/api.md": api_page(),
        "reference/instance.md": instance_page(),
        "reference/other-files.md": other_files_page(),
    }
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    for picture in sorted((ROOT / ".github").glob("*.png")):
        files.append(File.generated(config, f"pictures/{picture.name}", abs_src_path=str(picture)))
    return files
