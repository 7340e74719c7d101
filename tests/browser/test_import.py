"""Imports in a browser: preview a folder, import it, find the run; axe."""

import os
from pathlib import Path

from playwright.sync_api import Page, expect

from refinement.models import Run
from tests.browser.test_accessibility import in_both_themes

TRAJECTORY = """# Simmer Trajectory — Mail to Sarah

| Iter | Value Clarity | Reply (PRIMARY) | Composite | Key Change |
|------|---------------|-----------------|-----------|------------|
| 0    | 5             | 4               | 4.5       | seed       |

| 1    | ~7            | 6.5             | 6.8       | led with the finding |
| 1*   | 8             | 7               | 7.5       | the same text, read again |

Best candidate: iteration 0 (4.5/10)
"""


def pictured(page: Page, name: str) -> None:
    """Screenshots of the page in both themes and widths, if a folder is set for them."""
    folder = os.environ.get("WIGGUM_PICTURES")
    for width in (1440, 390) if folder else ():
        for theme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            page.screenshot(path=Path(str(folder), f"{name}-{width}-{theme}.png"), full_page=True)


def test_a_folder_is_looked_at_then_imported_and_marked(signed_in, project, tmp_path):
    page = signed_in
    for name, text in (
        ("trajectory.md", TRAJECTORY),
        ("iteration-0-candidate.md", "# Mail\n\nDear Sarah,"),
        ("iteration-1-candidate.md", "# Mail\n\nDear Sarah, 700 of your tests are redundant."),
        ("notes.txt", "not read"),
    ):
        (tmp_path / name).write_text(text)
    page.goto("/p/alpha/runs/import/")
    pictured(page, "import")
    assert in_both_themes(page) == []
    page.get_by_label("Files", exact=True).set_input_files([str(path) for path in sorted(tmp_path.iterdir())])
    page.get_by_role("button", name="Check files").click()
    expect(page.get_by_text("An estimate; the number is read as it is.").first).to_be_visible()
    assert not Run.objects.exists()
    pictured(page, "report")
    assert in_both_themes(page) == []
    page.get_by_role("button", name="Import 1 run").click()
    expect(page.get_by_text("1 run imported.")).to_be_visible()
    page.get_by_role("link", name="Show imported runs").click()
    expect(page.locator(".run-table .tag", has_text="imported")).to_be_visible()
    page.get_by_role("link", name="Mail to Sarah").click()
    expect(page.get_by_text("by the scores it is iteration 1 (6.8)")).to_be_visible()
    expect(page.get_by_role("cell", name="not counted")).to_be_visible()
    pictured(page, "run")
    assert in_both_themes(page) == []
    page.goto("/p/alpha/runs/training/")
    pictured(page, "training")
    assert in_both_themes(page) == []
