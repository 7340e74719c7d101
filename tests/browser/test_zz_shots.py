"""Scratch: pictures."""

import os
import pytest
from refinement.demo.trust import demo_trust, demo_judge
from refinement.execution.reports import report_advance
from refinement.models import Report, JudgeRecord

OUT = "/tmp/w/page_shots"


def computed():
    for row in Report.objects.filter(kind__in=["trust", "judges"]):
        Report.objects.filter(pk=row.pk).update(next_try_at=None)
        report_advance(row.pk)


def test_shots(browser, site, project, owner, as_owner):
    demo_trust(project, [owner])
    computed()
    judge = demo_judge(project)
    other = JudgeRecord.objects.get(key="qwen3:14b")
    empty = JudgeRecord.objects.get(key="phi4:14b")
    base = "/p/alpha/trust/"
    c0 = None
    pages = {
        "home": base,
        "page": f"{base}{judge.pk}/",
        "weak": f"{base}{other.pk}/",
        "empty": f"{base}{empty.pk}/",
        "apart": f"{base}{judge.pk}/disagreements/",
        "compare": f"{base}compare/?a={judge.pk}&b={other.pk}",
    }
    top = Report.objects.get(kind="trust", subject=judge.pk).result["disagreements"]["top"][0]
    pages["case"] = f"{base}{judge.pk}/disagreements/{top['item'].replace(':', '-')}/{top['criterion']}/"
    pages["editor"] = (
        f"/p/alpha/rubrics/release-notes-judge/edit/?case={judge.pk}-{top['item'].replace(':', '-')}-{top['criterion']}"
    )
    wanted = os.environ.get("SHOTS", "").split(",") if os.environ.get("SHOTS") else list(pages)
    for w, t in ((1440, "light"), (1440, "dark"), (390, "light"), (390, "dark"), (1024, "light")):
        if os.environ.get("MODES") and f"{w}{t}" not in os.environ["MODES"]:
            continue
        ctx = browser.new_context(base_url=site, viewport={"width": w, "height": 900}, color_scheme=t)
        ctx.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
        pg = ctx.new_page()
        for name in wanted:
            if name == "compare":
                pg.goto(pages[name])
                computed()
            r = pg.goto(pages[name])
            assert r.status == 200, (name, r.status)
            pg.wait_for_timeout(200)
            wide = pg.evaluate("document.documentElement.scrollWidth")
            if wide > w:
                print("TOO WIDE", name, w, wide)
            pg.screenshot(path=f"{OUT}/{name}_{w}_{t}.png", full_page=True)
        ctx.close()
