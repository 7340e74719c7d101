"""Results on disk: complete lines, one writer, and escaped model output in reports."""

from xml.etree import ElementTree as ET

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from refinement.evals.reports.junit import junit_xml
from refinement.evals.reports.results import Results
from refinement.evals.reports.summary import summary_markdown
from refinement.evals.types import BadEval


def result(key, **changes):
    return {
        "wiggum_eval": 1, "key": key, "eval": "Mail", "file": "mail.eval.yaml", "line": 3,
        "case": key, "trial": 1, "trials": 1, "sets": [], "metrics": {}, "iterations": [], "tags": [],
        "metadata": {}, "cost": None,
        "target": "agent",
        "model": "agent", "run": 7, "passed": True, "outcome": "PASS", "score": 1.0, "threshold": 0.8,
        "output": "Dear all", "asserts": [], "issues": [], "tokens": 12, "seconds": 0.5, "why": "Stopped.",
        "judge_proven": None, "unproven_reason": "", "unreachable": False,
        "ralph": {"iterations": 1, "scores": [1.0], "stop_reason": "perfect_score", "improvement": 0.0,
                  "passed_iteration": 1, "best_iteration": 1},
        **changes,
    }  # fmt: skip


HOSTILE = result(
    "<b>|x",
    passed=False,
    outcome="FAIL",
    output="```\n<script>alert(1)</script>\x00\x1b[31m\ud800",
    asserts=[
        {
            "id": "a", "type": "contains", "passed": False, "score": 0.0, "weight": 1.0, "severity": severity,
            "message": "![x](https://example.org/x.png) ]]> & <img src=x>", "suggestion": "",
            "expected": "contains “x”", "actual": "", "metric": "", "set": "",
        }
        for severity in ("info", "error")
    ],
    issues=["| a | b |"],
)  # fmt: skip


def test_what_was_added_is_there_when_it_is_resumed(tmp_path):
    first = Results(tmp_path, resume=False)
    first.open()
    first.begin("a", 1)
    first.begin("b", 2)
    first.begin("b", 3)
    first.add(result("a", output="naïve \ud800"))
    first.add(result("e", outcome="ERROR", passed=False))
    first.close()
    path = tmp_path / "results.jsonl"
    path.write_bytes(path.read_bytes() + b'{"wiggum_eval": 1, "key": "c", "out')

    again = Results(tmp_path, resume=True)
    assert list(again.finished) == ["a"]
    assert again.finished["a"]["output"].startswith("naïve ")
    assert again.begun == {"a": 1, "b": 3}
    again.open()
    again.add(result("b"))
    again.close()
    assert len(path.read_text().splitlines()) == 2

    fresh = Results(tmp_path, resume=False)
    assert path.read_text()  # not before something is to be run
    fresh.open()
    assert (fresh.finished, fresh.begun, path.read_text()) == ({}, {}, "")
    fresh.close()


def test_what_failed_is_run_again_if_asked(tmp_path):
    first = Results(tmp_path, resume=False)
    first.open()
    for key, passed in (("a", True), ("b", False)):
        first.begin(key, ord(key))
        first.add(result(key, passed=passed, outcome="PASS" if passed else "FAIL"))
    first.close()
    again = Results(tmp_path, resume=False, rerun_failed=True)
    assert (list(again.finished), again.begun) == (["a"], {"a": ord("a")})


def test_two_do_not_write_to_one_folder(tmp_path):
    first = Results(tmp_path, resume=False)
    first.open()
    first.add(result("a"))
    with pytest.raises(BadEval, match="another evaluation is using this folder"):
        Results(tmp_path, resume=False)
    assert first.finished
    assert (tmp_path / "results.jsonl").read_text()
    first.close()


@pytest.mark.parametrize("text", ['{"key": "a"}\n', "not json\n", '{"wiggum_eval": 9, "key": "a"}\n'])
def test_somebody_elses_file_is_left_alone(tmp_path, text):
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    with pytest.raises(BadEval, match="another --out"):
        Results(tmp_path, resume=True)
    assert path.read_text() == text


def test_junit_holds_what_xml_cannot():
    suites = ET.fromstring(junit_xml([result("a"), HOSTILE, result("c", outcome="ERROR", passed=False)]))
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("3", "1", "1")
    (suite,) = suites
    hostile = suite.find("testcase[2]")
    assert hostile.get("name") == "<b>|x"
    assert hostile.find("failure").text.splitlines()[0].startswith("error: a: ![x]")
    assert "<script>" in hostile.find("system-out").text


def test_the_summary_is_text_whatever_a_model_wrote():
    text = summary_markdown([result("fine"), HOSTILE]).encode("utf-8", "replace").decode()
    html = cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE)
    assert "<strong>1 of 2 cases passed.</strong>" in html
    assert html.index("❌") < html.index("✅")
    for tag in ("<script", "<img", "<b>", "<a "):
        assert tag not in html
    assert "&lt;script&gt;" in html
    assert html.count("<table") == 1


def test_a_summary_fits_a_comment():
    text = summary_markdown([{**HOSTILE, "case": f"case {number} " + "x" * 900} for number in range(2_000)])
    assert len(text) < 200_000
    assert "more failed cases in results.jsonl" in text


def test_a_pass_by_an_unproven_judge_is_a_failure_that_says_so():
    reason = "Unproven judge: 12 of 100 labels."
    unproven = result("a", passed=False, judge_proven=False, unproven_reason="12 of 100 labels", why=reason)
    (suite,) = ET.fromstring(junit_xml([unproven]))
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    failure = suite.find("testcase/failure")
    assert (failure.get("type"), failure.get("message")) == ("unproven_judge", reason)
    summary = summary_markdown([unproven])
    assert "**0 of 1 case passed.**" in summary
    assert "✅" not in summary
    assert reason in summary
