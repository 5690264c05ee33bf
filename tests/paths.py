"""Where tests find what lies beside them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""the repository"""
SHARED = ROOT.parent / "shared"
"""data that is not part of the repository; tests that need it skip where it is absent"""
