"""Blind scoring: no response contains a score or a reason of the run."""

import io
import re
from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.db.models import Model
from django.urls import get_resolver, reverse
from django.utils import timezone

from refinement.models import (
    AuditEntry,
    Bench,
    BenchTrial,
    BlindReading,
    BoardVerdict,
    CandidateOrigin,
    Comment,
    HumanScore,
    JudgeRecord,
    LabelSet,
    Measurement,
    PanelJudge,
    ReviewRequest,
    Round,
    Run,
    Thread,
    ThreadPlace,
    User,
)
from refinement.providers.registry import Target
from refinement.services.reviews.blind_readings import blind_reading_begin, blind_reading_give_up
from refinement.services.reviews.comment_spots import Spot
from refinement.services.reviews.comments import thread_open
from refinement.services.reviews.decisions import decision_make
from refinement.services.reviews.human_scores import Reading, human_score_give
from refinement.services.rubrics.bench import Candidate, bench_create
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.held_out import held_out_start
from refinement.services.runs.shares import share_link_make
from tests.conftest import member, signed_in
from tests.views.runs.finished import finished_run
from tests.views.runs.listed import runs_of
from tests.views.test_role_matrix import RULES, addresses, walked

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
# Scores as stored and as rounded on pages, and a word for each text. Words are long: a page's random tokens
# must not contain one by chance.
NUMBERS = ("7.3519", "7.35", "8.6273", "8.63", "6.4481", "6.45", "3.1875", "3.19")
WORDS = ("Zverdict", "Zwhystopped", "Zscorenote", "Zreason", "Zdecision", "Zcomment", "Zaudit",
         "Zstance", "Zadvice", "Zsummary", "Zdirection", "Zchange", "Zheldout")  # fmt: skip
SENTINELS = (*NUMBERS, *WORDS)
TOLD = re.compile(rf"(?<![\d:])({'|'.join(map(re.escape, SENTINELS))})")


@pytest.fixture
def run(project, owner, outsider) -> Run:
    """A run that the judge and a colleague have scored, with recognisable numbers and words."""
    default_rubrics_install(project=project)
    made = finished_run(
        project, ["7.3519", "8.6273", "6.4481"], said="Zverdict", why="Stopped: Zwhystopped.", user=owner,
        batch="b1", signal_rounds=1,
    )  # fmt: skip
    colleague = member(project, "editor", "milo@example.org", "Milo Editor")
    keys = [entry["key"] for entry in made.snapshot["criteria"]]
    row = made.rounds.get(number=2)
    board_said(made, row)
    said = Reading(dict.fromkeys(keys, Decimal("3.1875")), {keys[0]: "Zreason"}, "Zscorenote")
    human_score_give(run=made, row=row, user=colleague, submitted=said, seen_version=0)
    decision_make(run=made, kind="rejected", reason="Zdecision", seen=0, user=colleague)
    thread_open(run=made, spot=Spot(ThreadPlace.RUN), body="Zcomment @olivia", user=colleague)
    AuditEntry.objects.create(
        action="run.note", object_type="run", object_id=str(made.pk), project=project, actor="x",
        after={"note": "Zaudit"},
    )  # fmt: skip
    bench_create(
        version=made.rubric_version, candidate=Candidate("Zverdict", CandidateOrigin.ROUND, row),
        judge=Target("ollama", "loopback:8b"), repeats=1,
    )  # fmt: skip
    held_out_said(made)
    return made


def held_out_said(run: Run) -> None:
    """A held-out judge scored the first and the best round: its measurement has a page of its own."""
    Run.objects.filter(pk=run.pk).update(held_out_endpoint="ollama", held_out_model="mistral:7b")
    run.refresh_from_db()
    measurement = held_out_start(run)
    assert measurement is not None
    for item in measurement.items.all():
        said = [{"key": "depth", "score": "3.1875", "reasoning": "Zheldout", "improvement": ""}]
        BenchTrial.objects.create(
            bench=item.bench, number=1, status="done", composite="3.1875", scores={"depth": "3.1875"},
            said=said, issues=["Zheldout"], asi="Zheldout",
        )  # fmt: skip
    Measurement.objects.update(status="finished", finished_at=timezone.now())


def board_said(run: Run, row: Round) -> None:
    """A board took over before this round, and all that it and its clerk say is recognisable."""
    Run.objects.filter(pk=run.pk).update(escalated_after=1)
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    scores = [{"key": key, "score": "7.3519", "reasoning": "Zverdict"} for key in keys]
    stances = [{**entry, "stance": "challenge", "reasoning": "Zstance"} for entry in scores]
    said = {"scores": scores, "stances": stances, "asi": "Zadvice"}
    for seat in (1, 2):
        judge = PanelJudge.objects.create(
            run=run, seat=seat, name=f"Judge {seat}", lens="Zlens", endpoint="ollama", model="gemma3:27b"
        )
        BoardVerdict.objects.create(round=row, judge=judge, seat=seat, **said)
    summary = {"working": ["Zsummary"], "not_working": [], "direction": "Zdirection", "problem": ""}
    Round.objects.filter(pk=row.pk).update(
        key_change="Zchange", summary=summary, spread=dict.fromkeys(keys, "3.1875")
    )


def everywhere(run: Run) -> Iterator[str]:
    """Every address of the project, with this run wherever an address takes one, and of the instance."""
    project = run.project
    bench = Bench.objects.get(fingerprint="", measured=None)
    for name, parameters in sorted(addresses().items()):
        if not RULES[name].read:
            continue
        for form in ("json", "md", "txt", "csv", "jsonl") if "form" in parameters else ("",):
            given = {
                "slug": project.slug, "run": run.pk, "rubric": run.rubric.slug, "number": 1, "form": form,
                "label_set": first_of(LabelSet), "judge": first_of(JudgeRecord), "what": "ratings",
                "measurement": first_of(Measurement),
                "bench": bench.pk, "thread": Thread.objects.get().pk, "comment": Comment.objects.get().pk,
            }  # fmt: skip
            yield reverse(name, kwargs={key: given.get(key, 1) for key in parameters})
    for route, pattern in walked(get_resolver()):
        if not route.startswith("p/") and not pattern.pattern.converters and not route.startswith("^"):
            yield f"/{route}"
    yield from asked_for(run)


def first_of(model: type[Model]) -> int:
    """The first row's number; any number if there is none."""
    return getattr(model._default_manager.order_by("pk").first(), "pk", 1)


def asked_for(run: Run) -> Iterator[str]:
    """What can be asked of these addresses besides."""
    base, rubric = f"/p/{run.project.slug}/", f"/p/{run.project.slug}/rubrics/{run.rubric.slug}/"
    other = Run.objects.filter(project=run.project).exclude(pk=run.pk).first()
    yield from (f"{base}runs/{run.pk}/rounds/{number}/" for number in (1, 2, 3))
    yield f"{base}runs/{run.pk}/rounds/2/?part=page"
    yield f"{base}runs/{run.pk}/rounds/2/?view=raw"
    yield f"{base}runs/{run.pk}/calls/?round=2"
    yield f"{base}runs/{run.pk}/score/2/?view=raw"
    for query in ("sort=best", "sort=-best", "best_min=8", "outcome=FAIL", "q=deployment", "mark=signal",
                  "decision=rejected", "batch=b1", "archived=on"):  # fmt: skip
        yield f"{base}runs/?{query}"
        yield f"{base}runs/export/csv/?{query}"
    yield f"{base}runs/export/jsonl/?run={run.pk}"
    yield f"{base}runs/compare/?run={run.pk}"
    yield f"{base}runs/compare/?run={run.pk}&run={other.pk if other else 0}"
    yield f"{base}runs/new/?from={run.pk}"
    yield f"{rubric}seed/?round={run.pk}-2"
    yield f"{rubric}preview/?run={run.pk}&round=3"
    yield f"{base}rubrics/"
    yield f"{base}audit/?object_id={run.pk}"


def answered(client, address: str, **headers: str) -> bytes:
    """The whole answer: its body, also where it is sent piece by piece, and its headers."""
    answer = client.get(address, headers=headers)
    assert answer.status_code < 500 or address == "/readyz", address
    parts = answer.streaming_content if answer.streaming else [answer.content]
    told = io.BytesIO()
    told.writelines(parts)
    return told.getvalue() + str(dict(answer.headers)).encode()


def told_in(text: str) -> list[str]:
    """The words in it; a number that is the end of a longer one, as in a time, is none of ours."""
    found = set(TOLD.findall(text))
    return [word for word in SENTINELS if word in found]


def revealed(client, run: Run) -> dict[str, list[str]]:
    """Each address whose answer holds one of the words, with those it holds."""
    found = {}
    for address in everywhere(run):
        for headers in ({}, HTMX):
            body = answered(client, address, **headers).decode("utf-8", "replace")
            if words := told_in(body):
                found[f"{address} {headers}"] = words
    return found


def test_no_answer_shows_anything_that_was_said_of_the_run(run, project, owner, as_owner):
    """To an owner who administers the instance: nobody can open more addresses."""
    runs_of(project, 2)
    ReviewRequest.objects.create(run=run, project=project, reviewer=owner)
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    blind_reading_begin(run=run, number=2, user=owner)
    assert revealed(as_owner, run) == {}


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_nor_does_any_page_about_the_run_to_others(request, run, project, role):
    runs_of(project, 2)
    person = request.getfixturevalue(role)
    ReviewRequest.objects.create(run=run, project=project, reviewer=person)
    blind_reading_begin(run=run, number=2, user=person)
    client = request.getfixturevalue(f"as_{role}")
    home, page = f"/p/{project.slug}/", f"/p/{project.slug}/runs/{run.pk}/"
    for address in (home, page, f"{page}threads/", f"{page}live/", *asked_for(run)):
        assert told_in(answered(client, address).decode("utf-8", "replace")) == [], address


def test_the_same_addresses_show_all_of_it_to_somebody_else(run, project, owner, as_owner):
    """Otherwise the test above would prove nothing."""
    runs_of(project, 2)
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    shown = {word for words in revealed(as_owner, run).values() for word in words}
    assert shown >= set(WORDS) - {"Zheldout"} | {"7.35", "8.63", "6.45", "3.19"}


def test_forms_that_borrow_from_runs_do_not_take_a_hidden_one(as_editor, editor, run):
    blind_reading_begin(run=run, number=2, user=editor)
    rubric = f"/p/alpha/rubrics/{run.rubric.slug}/"
    row = run.rounds.get(number=2)
    for address, data in (
        (f"{rubric}preview/", {"run": run.pk, "number": "3", "version": "1"}),
        (f"{rubric}bench/", {"source": "round", "round": row.pk, "repeats": "1"}),
        ("/p/alpha/runs/bulk/", {"action": "archive", "run": run.pk}),
    ):
        answer = as_editor.post(address, data, follow=True)
        assert told_in(answer.content.decode()) == [], address
    run.refresh_from_db()
    assert run.archived_at is None


def test_a_share_link_shows_nothing_either_while_signed_in(as_viewer, viewer, owner, run, client):
    _, token = share_link_make(run=run, by=owner, days=7, show_prompts=True, show_comments=True)
    blind_reading_begin(run=run, number=2, user=viewer)
    for rest in ("", "2/"):
        hidden = answered(as_viewer, f"/s/{token}/{rest}").decode()
        assert told_in(hidden) == []
        assert "8.63" in answered(client, f"/s/{token}/{rest}").decode()


def test_pages_lead_to_the_scoring_page_and_files_are_refused(as_viewer, viewer, run):
    blind_reading_begin(run=run, number=2, user=viewer)
    base = f"/p/alpha/runs/{run.pk}/"
    page = as_viewer.get(base)
    assert (page.status_code, page["Location"]) == (302, f"{base}score/2/")
    partial = as_viewer.get(f"{base}rounds/1/", headers=HTMX)
    assert partial["HX-Redirect"] == f"{base}score/2/"
    for rest in ("export/json/", "export/md/", "trajectory.svg", "events/"):
        refused = as_viewer.get(base + rest)
        assert refused.status_code == 403, rest
        assert b"scoring run" in refused.content
    assert as_viewer.get(f"{base}score/2/").status_code == 200


def test_an_action_on_the_run_is_refused_and_does_nothing(as_editor, editor, run):
    blind_reading_begin(run=run, number=1, user=editor)
    assert as_editor.post(f"/p/alpha/runs/{run.pk}/do/archive/").status_code == 403
    run.refresh_from_db()
    assert run.archived_at is None


def test_lists_leave_the_run_out_and_say_where_it_is(as_viewer, viewer, run, project):
    (other,) = runs_of(project, title="Another task")
    blind_reading_begin(run=run, number=2, user=viewer)
    for query in ("", "?sort=best", "?best_min=8", "?outcome=FAIL"):
        text = as_viewer.get(f"/p/alpha/runs/{query}").content.decode()
        assert f'name="run" value="{run.pk}"' not in text
        assert f"/p/alpha/runs/{run.pk}/score/2/" in text
    assert f'name="run" value="{other.pk}"' in as_viewer.get("/p/alpha/runs/").content.decode()


def test_another_project_and_other_people_are_not_hidden_from(as_owner, viewer, run):
    blind_reading_begin(run=run, number=2, user=viewer)
    text = as_owner.get("/p/alpha/runs/").content.decode()
    assert f'name="run" value="{run.pk}"' in text
    assert "blind" not in text


def test_submitting_ends_it_and_the_score_is_marked(as_viewer, viewer, run):
    blind_reading_begin(run=run, number=2, user=viewer)
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    sent = as_viewer.post(
        f"/p/alpha/runs/{run.pk}/score/2/", {"version": "0", **{f"score-{key}": "6" for key in keys}}
    )
    assert sent["Location"].startswith(f"/p/alpha/runs/{run.pk}/score/2/?scored=2")
    assert b"8.63" in as_viewer.get(sent["Location"]).content
    assert HumanScore.objects.get(author=viewer).blind
    assert b"8.63" in as_viewer.get(f"/p/alpha/runs/{run.pk}/").content


def test_staying_blind_goes_to_the_next_round_without_a_gap(as_viewer, viewer, run):
    blind_reading_begin(run=run, number=2, user=viewer)
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    data = {"version": "0", "then": "next", **{f"score-{key}": "6" for key in keys}}
    sent = as_viewer.post(f"/p/alpha/runs/{run.pk}/score/2/", data)
    assert sent["Location"].startswith(f"/p/alpha/runs/{run.pk}/score/3/")
    sent = as_viewer.post(f"/p/alpha/runs/{run.pk}/score/3/", data)
    assert sent["Location"].startswith(f"/p/alpha/runs/{run.pk}/score/1/")
    assert as_viewer.get(f"/p/alpha/runs/{run.pk}/").status_code == 302
    sent = as_viewer.post(f"/p/alpha/runs/{run.pk}/score/1/", data)
    assert sent["Location"].startswith(f"/p/alpha/runs/{run.pk}/score/1/")
    assert list(HumanScore.objects.filter(author=viewer).values_list("blind", flat=True)) == [True] * 3
    assert BlindReading.objects.filter(reader=viewer).count() == 1


def test_looking_is_confirmed_recorded_and_makes_later_scores_open(as_viewer, viewer, run):
    blind_reading_begin(run=run, number=2, user=viewer)
    asked = as_viewer.post(f"/p/alpha/runs/{run.pk}/score/reveal/")
    assert asked.status_code == 200
    assert b"Cancel blind scoring" in asked.content
    assert as_viewer.get(f"/p/alpha/runs/{run.pk}/").status_code == 302
    as_viewer.post(f"/p/alpha/runs/{run.pk}/score/reveal/", {"sure": "yes"})
    assert as_viewer.get(f"/p/alpha/runs/{run.pk}/").status_code == 200
    assert BlindReading.objects.get(reader=viewer).given_up
    assert AuditEntry.objects.filter(action="blind.give_up", object_id=str(run.pk)).exists()
    again = as_viewer.post(f"/p/alpha/runs/{run.pk}/score/2/blind/", follow=True)
    assert b"can no longer score it blind" in again.content
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    as_viewer.post(
        f"/p/alpha/runs/{run.pk}/score/2/", {"version": "0", **{f"score-{key}": "6" for key in keys}}
    )
    assert not HumanScore.objects.get(author=viewer).blind


def test_scoring_offers_blind_first_and_says_how_the_two_differ(as_viewer, viewer, run):
    address = f"/p/alpha/runs/{run.pk}/score/2/"
    choice = as_viewer.get(f"{address}?choose=1").content.decode()
    assert 0 < choice.index(f'action="{address}blind/"') < choice.index(f'href="{address}">Score openly')
    assert not BlindReading.objects.exists()
    blind_reading_begin(run=run, number=2, user=viewer)
    assert "Your scores" in as_viewer.get(f"{address}?choose=1").content.decode()


@pytest.mark.parametrize("shown", ["", "rounds/1/", "calls/", "export/json/", "compare"])
def test_who_opened_the_scores_can_no_longer_score_blind(as_viewer, viewer, run, project, shown):
    (other,) = runs_of(project)
    base = f"/p/alpha/runs/{run.pk}/"
    seen = f"/p/alpha/runs/compare/?run={run.pk}&run={other.pk}" if shown == "compare" else base + shown
    answered(as_viewer, seen)
    page = as_viewer.get(f"{base}score/2/?choose=1").content.decode()
    assert "seen before" in page
    assert "Score blind" not in page
    as_viewer.post(f"{base}score/2/blind/")
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    as_viewer.post(f"{base}score/2/", {"version": "0", **{f"score-{key}": "6" for key in keys}})
    assert not HumanScore.objects.get(author=viewer).blind
    assert BlindReading.objects.filter(run=run, reader=viewer).count() == 1


def test_texts_and_runs_without_scores_leave_a_score_blind(as_viewer, viewer, run, project):
    (going,) = runs_of(project, status="running", r1=None)
    for address in (f"{run.pk}/rounds/1/?form=text", f"{run.pk}/?form=task", f"{going.pk}/"):
        assert as_viewer.get(f"/p/alpha/runs/{address}").status_code == 200
    assert not BlindReading.objects.filter(reader=viewer).exists()


def test_the_blind_note_is_words_and_leads_out(as_viewer, viewer, run):
    blind_reading_begin(run=run, number=2, user=viewer)
    page = as_viewer.get(f"/p/alpha/runs/{run.pk}/score/2/").content.decode()
    note = page.partition('blind-note">')[2].partition("</div>")[0]
    words = " ".join(re.sub(r"<[^<>]*>", "", note).split())
    assert words.startswith("You are scoring blind. Scores, verdicts and comments of this run are hidden")
    assert not set('<>"') & set(words)
    assert words.endswith("Cancel blind scoring…")


def test_a_project_that_scores_blind_offers_nothing_else(as_viewer, viewer, run, project):
    project.blind_scores = True
    project.save(update_fields=["blind_scores"])
    address = f"/p/alpha/runs/{run.pk}/score/2/"
    for query in ("", "?choose=1"):
        page = as_viewer.get(address + query).content
        assert b"scores blind" in page
        assert b"Score openly" not in page
        assert b"Your scores" not in page
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    data = {"version": "0", **{f"score-{key}": "6" for key in keys}}
    assert as_viewer.post(address, data).status_code == 422
    assert not HumanScore.objects.filter(author=viewer).exists()
    as_viewer.post(f"{address}blind/")
    as_viewer.post(address, data)
    assert HumanScore.objects.get(author=viewer).blind


def test_outsiders_and_other_runs_are_not_found(as_outsider, as_viewer, run):
    assert as_outsider.get(f"/p/alpha/runs/{run.pk}/score/1/").status_code == 404
    assert as_viewer.get(f"/p/alpha/runs/{run.pk}/score/9/").status_code == 404
    assert as_viewer.get(f"/p/alpha/runs/{run.pk + 99}/score/1/").status_code == 404


def test_giving_up_twice_is_no_error(viewer, run):
    blind_reading_begin(run=run, number=2, user=viewer)
    assert blind_reading_give_up(run=run, user=viewer)
    assert not blind_reading_give_up(run=run, user=viewer)
    assert BlindReading.objects.get().ended_at <= timezone.now()


def test_many_blind_readers_of_one_project_do_not_meet(viewer, editor, run, project, as_editor):
    (other,) = runs_of(project)
    blind_reading_begin(run=run, number=2, user=viewer)
    blind_reading_begin(run=other, number=1, user=editor)
    assert as_editor.get(f"/p/alpha/runs/{run.pk}/").status_code == 200
    assert signed_in(viewer).get(f"/p/alpha/runs/{other.pk}/").status_code == 200
