"""Comments in a browser: selections, mentions, marks, edits, keyboard only; axe."""

import re

import pytest
from playwright.sync_api import Page, expect

from refinement.models import Comment, Thread
from refinement.services.reviews.comments import comment_add, comment_edit
from tests.browser.test_accessibility import at_both_widths
from tests.browser.test_runs_accessibility import opened, tab_to
from tests.views.comments.given import answer, quote, say, talked_run

__all__ = ["opened"]
NEAR = 24  # pixels between a passage and the top of its thread
ASKED_MS = 400  # longer than names wait before they are asked for
SELECT = """([selector, words]) => {
  const root = document.querySelector(selector);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const [first, last] = words;
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const begins = node.data.includes(first) && range.startContainer === document;
    if (begins) range.setStart(node, node.data.indexOf(first));
    if (node.data.includes(last)) range.setEnd(node, node.data.indexOf(last) + last.length);
  }
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


@pytest.fixture
def run(site, project):
    return talked_run(project)


@pytest.fixture
def home(run):
    return f"/p/{run.project.slug}/runs/{run.pk}/"


def select(page: Page, selector: str, first: str, last: str) -> None:
    page.evaluate(SELECT, [selector, [first, last]])


def talk(page: Page):
    return page.locator("#run-talk")


def beside(page: Page):
    return page.locator("#talk-margin")


@pytest.mark.parametrize(
    ("view", "root"), [("", ".prose"), ("?view=raw", ".raw-lines"), ("?view=changes", ".diff-text")]
)
def test_a_selection_becomes_a_thread_and_a_mark(signed_in, home, view, root):
    signed_in.goto(f"{home}rounds/2/{view}")
    select(signed_in, f"#round-text {root}", "service runs", "its settings")
    signed_in.locator(".passage-button").click()
    expect(signed_in.locator("#passage-body")).to_be_focused()
    signed_in.keyboard.type("In which one?")
    signed_in.keyboard.press("Control+Enter")
    expect(beside(signed_in).locator(".comment-body")).to_have_text("In which one?")
    expect(signed_in.locator("#talk-passage")).to_be_hidden()
    expect(talk(signed_in)).to_have_count(1)
    thread = Thread.objects.get()
    assert thread.quote == "service runs **in a container** and takes its settings"
    marks = signed_in.locator(f"#round-text mark[data-thread='thread-{thread.pk}']")
    expect(marks.first).to_be_visible()
    assert (
        "".join(marks.all_inner_texts()).replace("*", "")
        == "service runs in a container and takes its settings"
    )
    signed_in.get_by_role("link", name="1 comment on this passage").click()
    card = signed_in.locator(f"#thread-{thread.pk}")
    expect(card).to_be_focused()
    expect(card).to_have_class(re.compile("thread-aligned"))
    assert abs(card.bounding_box()["y"] - marks.first.bounding_box()["y"]) < NEAR


def test_equal_passages_are_told_apart(signed_in, run, home):
    run.rounds.filter(number=2).update(candidate="One *tool* here.\n\nAnother tool there, a tool again.")
    signed_in.goto(f"{home}rounds/2/")
    select(signed_in, "#round-text .prose p:last-of-type", "tool there", "tool there")
    signed_in.evaluate(
        "getSelection().getRangeAt(0).setEnd(getSelection().anchorNode, getSelection().anchorOffset + 4)"
    )
    signed_in.locator(".passage-button").click()
    signed_in.locator("#passage-body").fill("Which?")
    signed_in.locator("#talk-passage").get_by_role("button", name="Comment").click()
    expect(beside(signed_in).locator(".comment")).to_have_count(1)
    thread = Thread.objects.get()
    assert thread.quote_after.startswith(" there")
    expect(signed_in.locator("#round-text mark + .passage-link")).to_have_count(1)
    assert signed_in.evaluate("document.querySelector('#round-text mark').previousSibling.data") == "Another "


def test_a_teammate_is_completed_and_told_by_keyboard_alone(signed_in, home, viewer, editor):
    signed_in.goto(home)
    tab_to(signed_in, "#thread-body")
    signed_in.keyboard.type("Look, @e")
    names = signed_in.get_by_role("listbox", name="Teammates")
    expect(names.get_by_role("option")).to_have_count(1)
    signed_in.keyboard.press("Escape")
    expect(names).to_be_hidden()
    signed_in.keyboard.press("Backspace")
    signed_in.keyboard.type("v")
    expect(names.get_by_role("option", name="Vera Viewer")).to_have_attribute("aria-selected", "true")
    signed_in.keyboard.press("ArrowDown")
    signed_in.keyboard.press("ArrowUp")
    signed_in.keyboard.press("Enter")
    expect(signed_in.locator("#thread-body")).to_have_value("Look, @Vera Viewer ")
    signed_in.keyboard.press("Enter")  # a chosen name is not chosen again
    signed_in.wait_for_timeout(ASKED_MS)
    expect(names).to_be_hidden()
    signed_in.keyboard.type("here.")
    expect(signed_in.locator("#thread-body")).to_have_value("Look, @Vera Viewer \nhere.")
    signed_in.keyboard.type(" @e")
    expect(names.get_by_role("option")).to_have_count(1)
    send = signed_in.get_by_role("button", name="Comment", exact=True)
    send.click(trial=True)  # nothing covers it
    signed_in.keyboard.press("Escape")
    signed_in.keyboard.press("Control+Enter")
    expect(talk(signed_in).locator(".mention")).to_have_text("Vera Viewer")
    assert list(Comment.objects.get().mentioned.all()) == [viewer]


def test_answer_edit_delete_resolve_in_place(signed_in, run, home, editor, owner):
    thread = say(run, editor, "Why?", "round", 2).thread
    signed_in.goto(home)
    signed_in.evaluate("window.same = true")  # the page is never loaded anew
    signed_in.get_by_text("Reply", exact=True).first.click()
    signed_in.locator(f"#reply-{thread.pk}").fill("Because.")
    signed_in.get_by_role("button", name="Reply", exact=True).click()
    mine = talk(signed_in).locator(".comment").nth(1)
    expect(mine.locator(".comment-body")).to_have_text("Because.")
    mine.get_by_role("link", name="Edit").click()
    mine.get_by_label("Your comment").fill("Because of **that**.")
    mine.get_by_role("button", name="Save").click()
    expect(mine.locator("strong")).to_have_text("that")
    expect(mine.get_by_role("link", name="edited")).to_be_visible()
    signed_in.once("dialog", lambda dialog: dialog.accept())
    mine.get_by_role("button", name="Delete").click()
    expect(mine).to_contain_text("This comment was deleted.")
    signed_in.get_by_role("button", name="Resolve").click()
    expect(talk(signed_in).locator(".thread-resolved")).to_be_visible()
    talk(signed_in).get_by_text("2 comments").click()
    signed_in.get_by_role("button", name="Reopen").click()
    expect(talk(signed_in).locator(".thread-open")).to_be_visible()
    expect(signed_in.locator("#run-rounds [data-talk-count='2'] b")).to_have_text("1")
    assert signed_in.evaluate("window.same")


def test_an_edit_that_was_overtaken_shows_both(signed_in, run, home, owner):
    comment = say(run, owner, "First.", "round", 2)
    signed_in.goto(home)
    mine = talk(signed_in).locator(".comment")
    mine.get_by_role("link", name="Edit").click()
    mine.get_by_label("Your comment").fill("From here.")
    comment_edit(comment=comment, body="From elsewhere.", version=1, user=owner)
    mine.get_by_role("button", name="Save").click()
    expect(mine.get_by_role("alert")).to_contain_text("From elsewhere.")
    expect(mine.get_by_label("Your comment")).to_have_value("From here.")
    mine.get_by_role("button", name="Save").click()
    expect(mine.locator(".comment-body")).to_have_text("From here.")


def test_what_is_wrong_is_said_and_stays(signed_in, run, home):
    signed_in.goto(f"{home}rounds/2/")
    signed_in.locator("#thread-body").focus()
    signed_in.get_by_label("About", exact=True).select_option("passage")
    signed_in.locator("#thread-quote").fill("never written")
    signed_in.get_by_label("Comment", exact=True).fill("My words.")
    signed_in.get_by_role("button", name="Comment", exact=True).click()
    expect(talk(signed_in).locator(".errorlist")).to_contain_text("This passage is not in the round's text.")
    expect(signed_in.get_by_label("Comment", exact=True)).to_have_value("My words.")
    assert Comment.objects.count() == 0


def test_what_others_say_comes_and_what_one_types_stays(signed_in, run, home, editor, owner):
    first = say(run, editor, "Why?", "round", 2)
    own = comment_add(thread=first.thread, body="My own.", user=owner)
    signed_in.goto(home)
    signed_in.get_by_label("Comment", exact=True).fill("A new thread of mine")
    signed_in.get_by_text("Reply", exact=True).first.click()
    signed_in.locator(f"#comment-{own.pk}").get_by_role("link", name="Edit").click()
    signed_in.locator(f"#edit-{own.pk} textarea").fill("My own, changed")
    signed_in.locator(f"#reply-{first.thread_id}").type("Half a sen")
    answer(first, editor, "Nobody answers?")
    say(run, editor, "Another thread.", "round", 2)
    comment_edit(comment=first, body="Why, indeed?", version=1, user=editor)
    expect(talk(signed_in)).to_contain_text("Nobody answers?")
    expect(talk(signed_in)).to_contain_text("Another thread.")
    expect(talk(signed_in)).to_contain_text("Why, indeed?")
    expect(signed_in.locator(f"#reply-{first.thread_id}")).to_have_value("Half a sen")
    expect(signed_in.locator(f"#reply-{first.thread_id}")).to_be_focused()
    signed_in.keyboard.type("tence")
    expect(signed_in.locator(f"#reply-{first.thread_id}")).to_have_value("Half a sentence")
    expect(signed_in.locator(f"#edit-{own.pk} textarea")).to_have_value("My own, changed")
    expect(signed_in.get_by_label("Comment", exact=True)).to_have_value("A new thread of mine")
    expect(signed_in.locator("#run-rounds [data-talk-count='2'] b")).to_have_text("4")


def test_typed_words_go_along_to_another_round(signed_in, run, home):
    signed_in.goto(home)
    signed_in.get_by_label("Comment", exact=True).fill("Still thinking")
    signed_in.get_by_role("navigation", name="Rounds").get_by_role("link").nth(2).click()
    expect(signed_in.get_by_role("heading", name="Round 3")).to_be_visible()
    expect(signed_in.get_by_label("Comment", exact=True)).to_have_value("Still thinking")
    signed_in.get_by_role("button", name="Comment", exact=True).click()
    expect(talk(signed_in).locator(".comment-body")).to_have_text("Still thinking")
    assert Thread.objects.get().round_number == 3


def test_a_passage_and_a_choice_outlast_what_others_say(signed_in, run, home, editor):
    first = say(run, editor, "Why?", "round", 2)
    signed_in.goto(f"{home}rounds/2/")
    about = signed_in.locator("#thread-about")
    signed_in.locator("#thread-body").focus()
    about.select_option("criterion:depth")
    answer(first, editor, "Nobody answers?")
    expect(talk(signed_in)).to_contain_text("Nobody answers?")
    expect(about).to_have_value("criterion:depth")
    select(signed_in, "#round-text .prose", "service runs", "takes its")
    signed_in.locator(".passage-button").click()
    form = signed_in.locator("#talk-passage")
    form.locator("#passage-body").fill("In which one?")
    say(run, editor, "Another thread.", "round", 2)
    expect(talk(signed_in)).to_contain_text("Another thread.")
    for around in ("before", "after"):
        expect(form.locator(f"[name={around}]")).not_to_have_value("")
    form.get_by_role("button", name="Comment").click()
    expect(beside(signed_in)).to_contain_text("In which one?")
    assert Thread.objects.get(place="passage").quote == "service runs **in a container** and takes its"


def test_a_link_to_a_comment_opens_its_round_and_marks_it(signed_in, run, editor):
    comment = say(run, editor, "In the third.", "round", 3)
    signed_in.goto(f"/p/alpha/runs/{run.pk}/comments/{comment.pk}/")
    place = signed_in.locator(f"#comment-{comment.pk}:target")
    expect(place).to_be_in_viewport()
    expect(signed_in.get_by_role("heading", name="Round 3")).to_be_attached()


def test_a_comment_link_beside_a_criterion_chooses_it(signed_in, home):
    signed_in.goto(home)
    signed_in.locator(".score").first.locator("summary").click()
    signed_in.locator(".score").first.get_by_role("link", name="Comment on").click()
    expect(signed_in.locator("#thread-about")).to_have_value("criterion:depth")
    expect(signed_in.locator("#thread-body")).to_be_focused()


def test_without_script_everything_is_there(opened, run, home, editor):
    quote(run, editor, "Watch the log", 2)
    page = opened(java_script_enabled=False)
    page.goto(f"{home}rounds/2/?about=asi")
    expect(page.get_by_label("About", exact=True)).to_have_value("asi")
    page.get_by_label("About", exact=True).select_option("passage")
    page.locator("#thread-quote").fill("in a container")
    page.get_by_label("Comment", exact=True).fill("Without script.")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".comment:target .comment-body")).to_have_text("Without script.")
    page.locator(".comment:target").get_by_role("link", name="Edit").click()
    page.get_by_label("Your comment").fill("Changed without script.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".comment:target .comment-body")).to_have_text("Changed without script.")
    page.goto(f"{home}rounds/2/?view=raw")
    expect(page.locator(".line-thread")).to_have_count(2)


def test_axe_has_nothing_against_threads(opened, run, home, editor, owner):
    first = quote(run, editor, "Watch the log", 2, body="A **word** and `code`, @olivia.")
    answer(first, owner)
    comment_edit(comment=answer(first, owner, "x"), body="y", version=1, user=owner)
    page = opened(bypass_csp=True, viewport={"width": 1280, "height": 900})
    found = {}
    views = {"round": "", "lines": "?view=raw", "changes": "?view=changes", "sides": "?view=sides"}
    for name, view in views.items():
        page.goto(f"{home}rounds/2/{view}")
        page.evaluate(
            "document.querySelectorAll('#round-text details').forEach(fold => { fold.open = true })"
        )
        page.locator("#thread-body").fill("@v")
        page.locator("#thread-body").press("End")
        found[name] = at_both_widths(page)
    assert {name: told for name, told in found.items() if told} == {}
