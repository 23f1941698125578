"""The page in a browser, phone-wide and desktop-wide, light and dark: it fills the window, never more, and the colours change."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib

import pytest

from retrolex.evaluation.report.page import render

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
if BROWSER is None:
    pytest.skip("no Chromium here to look at the page with", allow_module_level=True)

QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync", "--hide-scrollbars"]


def browse(tmp_path, page, *options):
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    done = subprocess.run([BROWSER, *QUIET, profile, *options, page.as_uri()], capture_output=True, timeout=120, check=True)
    return done.stdout.decode("utf-8")


def first_pixel(png: bytes) -> tuple[int, int, int]:
    """Red, green and blue of the top left pixel (its filter, whatever it is, adds nothing there)."""
    position, data = 8, b""
    while position < len(png):
        (length,), kind = struct.unpack(">I", png[position : position + 4]), png[position + 4 : position + 8]
        data += png[position + 8 : position + 8 + length] if kind == b"IDAT" else b""
        position += 12 + length
    return tuple(zlib.decompressobj().decompress(data, 4)[1:4])


@pytest.mark.parametrize("width", [500, 1280])  # no headless window is narrower than 500
@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_light_and_dark(tmp_path, whole, scheme, dark, width):
    page, picture = tmp_path / "report.html", tmp_path / "picture.png"
    page.write_text(render(whole()), encoding="utf-8")
    browse(tmp_path, page, f"--blink-settings=preferredColorScheme={0 if dark else 1}", f"--screenshot={picture}", f"--window-size={width},900")
    assert (max(first_pixel(picture.read_bytes())) < 60) == dark


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(tmp_path, whole, width):
    (tmp_path / "report.html").write_text(render(whole(text="supercalifragilistic" * 12)), encoding="utf-8")
    frame = tmp_path / "frame.html"
    script = "document.title = frames[0].document.documentElement.scrollWidth"
    frame.write_text(f'<iframe src="report.html" style="border:0;width:{width}px;height:900px" onload="{script}"></iframe>', encoding="utf-8")
    found = browse(tmp_path, frame, "--allow-file-access-from-files", "--dump-dom", "--window-size=1400,900", "--virtual-time-budget=3000")
    assert f"<title>{width}</title>" in found


def test_print_shows_what_is_folded_away_on_the_screen(tmp_path, whole):
    data = whole(text="word " * 150)
    pages = []
    for changes in (data.gains, data.gains[:1]):
        data.gains, data.losses = changes, []
        (tmp_path / "report.html").write_text(render(data), encoding="utf-8")
        browse(tmp_path, tmp_path / "report.html", f"--print-to-pdf={tmp_path / 'report.pdf'}")
        pages.append((tmp_path / "report.pdf").read_bytes().count(b"/Type /Page\n"))
    assert len(whole().gains) > 5
    assert pages[0] >= pages[1] + 3  # closed, nine more queries would take a page at most
