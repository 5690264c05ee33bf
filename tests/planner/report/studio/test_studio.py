"""The page of the studio asks its own server and nobody else."""

import re

from planner.report.studio import FRAMED_HEADERS, STUDIO_HEADERS, studio_html


def test_the_page_asks_nobody_but_its_own_server() -> None:
    page = studio_html()
    assert set(re.findall(r"https?://[^\s\"'`]+", page)) == {"http://www.w3.org/2000/svg"}, "a name, never fetched"
    assert "default-src 'none'" in page
    assert "connect-src 'self'; frame-src 'self'" in page
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\b|style=\"", page)
    assert page == studio_html()
    assert "frame-ancestors 'none'" in STUDIO_HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in FRAMED_HEADERS["Content-Security-Policy"]
