"""Sources in prompts: their place, their length, and that they cannot change the prompt."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import PROFILES, rubric_for
from refinement.engine.steps import revise
from refinement.engine.types import (
    Assessment,
    CriterionScore,
    Draft,
    History,
    Information,
    Role,
    Round,
    Rubric,
    Verdict,
)
from refinement.judging.context import Brief, judge_view, producer_view
from refinement.judging.delimiters import fence
from refinement.judging.prompts import CLOSING, Prompt, judge_prompt, producer_prompt
from refinement.judging.sources import (
    MOST_CHARS,
    MOST_CHARS_TOGETHER,
    MOST_SOURCES,
    BadSource,
    SourceText,
    fair_shares,
    shown_sources,
    source_decoded,
    sources_cleaned,
)
from tests.judging.test_injection import CORPUS, NONCE, ROLE_TAGS, hostile

CALM = (SourceText("minutes.txt", "The meeting began at nine."), SourceText("b.md", "It ended at ten."))


def with_criteria(profile: str, **policy: object) -> Rubric:
    base = rubric_for(profile)
    criteria = base.criteria or rubric_for("wiggum").criteria
    return replace(base, criteria=criteria, policy=replace(base.policy, **policy))


def history(rubric: Rubric, rounds: int) -> History:
    """Rounds with candidates of a page, all but the last judged."""
    scores = tuple(
        CriterionScore(each.key, rubric.scale.maximum - 1, "Half of it is there.") for each in rubric.criteria
    )
    verdict = Verdict(scores, ("Say when it began.",), "Say when it began.")
    judged = Assessment(Decimal(1), {entry.key: entry.score for entry in scores}, (verdict,))
    texts = [f"# Minutes {number}\n\n" + f"Version {number} of it. " * 40 for number in range(1, rounds + 1)]
    entries = [Round(number, text, judged) for number, text in enumerate(texts, 1)]
    return History((*entries[:-1], replace(entries[-1], assessment=None)))


def judge_text(rubric: Rubric, sources: tuple[SourceText, ...], number: int = 1) -> Prompt:
    brief = Brief("Write the minutes.", rubric, NONCE, sources=sources)
    return judge_prompt(judge_view(brief, history(rubric, number), number))


def producer_text(rubric: Rubric, sources: tuple[SourceText, ...], number: int = 1) -> Prompt:
    """The prompt for the first draft, or for a later round."""
    brief = Brief("Write the minutes.", rubric, NONCE, sources=sources)
    if number == 1:
        return producer_prompt(producer_view(brief, History(), Draft()))
    past = history(rubric, number)
    last = past.rounds[-2]
    assert last.assessment is not None
    step = revise(rubric, replace(past, rounds=past.rounds[:-1]), last, last.assessment)
    return producer_prompt(producer_view(brief, past, step))


def shared_chars(one: str, other: str) -> int:
    """The length of their common beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


# --- limits -----------------------------------------------------------------------------------------
def test_sources_at_the_limits_are_taken():
    most = [SourceText("a", "x" * MOST_CHARS), SourceText("b", "x" * MOST_CHARS)]
    rest = MOST_CHARS_TOGETHER - 2 * MOST_CHARS
    assert len(sources_cleaned([*most, SourceText("c", "x" * rest)])) == 3
    assert len(sources_cleaned([SourceText("a", "x")] * MOST_SOURCES)) == MOST_SOURCES


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ([SourceText("a.txt", "x" * (MOST_CHARS + 1))], "a.txt has 200,001 characters; at most 200,000"),
        ([SourceText("a", "x" * MOST_CHARS)] * 3, "600,000 characters together; at most 500,000"),
        ([SourceText("a", "x")] * (MOST_SOURCES + 1), "21 sources; a run can have at most 20"),
        ([SourceText("a.txt", " \n")], "a.txt has no text"),
        ([SourceText("", "")], "Source 1 has no text"),
    ],
)
def test_a_source_beyond_a_limit_is_refused_by_name(sources, words):
    with pytest.raises(BadSource, match=words):
        sources_cleaned(sources)


def test_names_become_one_line_and_texts_storable():
    cleaned = sources_cleaned(
        [
            SourceText("a\u202e\n  b.txt", "one\r\ntwo\rthree\x00"),
            SourceText(" ", "x"),
            SourceText("n" * 300, "x"),
        ]
    )
    assert cleaned[0] == SourceText("a b.txt", "one\ntwo\nthree\N{REPLACEMENT CHARACTER}")
    assert cleaned[1].name == "Source 2"
    assert len(cleaned[2].name) == 200


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"text\x00more", "Käse".encode("latin-1")])
def test_a_binary_file_is_refused(content):
    with pytest.raises(BadSource, match=r"a\.pdf is not UTF-8 text"):
        source_decoded("a.pdf", content)


def test_a_byte_order_mark_is_not_part_of_the_text():
    assert source_decoded("a.txt", b"\xef\xbb\xbfK\xc3\xa4se") == SourceText("a.txt", "Käse")


# --- the limit of a prompt --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("lengths", "limit", "shares"),
    [
        ([10, 10], 100, [10, 10]),
        ([100, 100], 100, [50, 50]),
        ([10, 500, 500], 100, [10, 45, 45]),
        ([500, 10, 30], 100, [60, 10, 30]),
        ([5, 5, 5], 1, [0, 0, 1]),
        ([], 10, []),
    ],
)
def test_short_sources_are_whole_and_long_ones_share_the_rest(lengths, limit, shares):
    assert fair_shares(lengths, limit) == shares
    assert sum(fair_shares(lengths, limit)) <= limit


def test_a_cut_source_keeps_its_head_and_its_tail_and_both_roles_are_told():
    long = SourceText("long.txt", "HEAD " + "middle " * 2_000 + "TAIL")
    short = SourceText("short.txt", "All of this short one.")
    rubric = with_criteria("wiggum", source_limit_chars=1_000)
    shown = shown_sources((long, short), 1_000)
    notice = f"Source 1 is long: you see {shown[0].excerpt.seen_chars:,} of its {len(long.text):,} characters"
    for make in (judge_text, producer_text):
        user = make(rubric, (long, short)).messages[1].content
        assert notice in user
        assert "HEAD" in user
        assert "TAIL" in user
        assert "characters left out here" in user
        assert short.text in user
        assert "Source 2 is long" not in user
        assert user.count("middle") < 200


def test_sources_within_the_limit_are_whole_without_a_notice():
    rubric = with_criteria("wiggum", source_limit_chars=len(CALM[0].text) + len(CALM[1].text))
    for make in (judge_text, producer_text):
        user = make(rubric, CALM).messages[1].content
        assert all(source.text in user for source in CALM)
        assert "is long" not in user


# --- where they stand -------------------------------------------------------------------------------
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("make", [judge_text, producer_text])
def test_each_source_stands_between_its_own_marks_with_its_name(make, profile):
    user = make(with_criteria(profile), CALM, 2).messages[1].content
    for number, source in enumerate(CALM, 1):
        assert fence(NONCE, f"SOURCE {number}").around(f"Name: {source.name}\n\n{source.text}") in user


@pytest.mark.parametrize("make", [judge_text, producer_text])
def test_a_role_is_told_what_sources_are_for_only_if_there_are_any(make):
    rubric = with_criteria("wiggum")
    system = make(rubric, CALM).messages[0].content
    assert f"<<<SOURCE 1 {NONCE}>>> hold the sources" in system
    without = make(rubric, ())
    assert not any("SOURCE" in message.content for message in without.messages)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("make", [judge_text, producer_text])
def test_consecutive_rounds_share_their_prefix(make, profile):
    """85 % of the characters with sources of some pages: what a server's cache need not read again."""
    sources = (SourceText("a.txt", "Facts about it. " * 800), SourceText("b.txt", "More facts. " * 800))
    rubric = with_criteria(profile)
    for number in (2, 3):
        before, after = (
            "".join(message.content for message in make(rubric, sources, each).messages)
            for each in (number, number + 1)
        )
        assert shared_chars(before, after) >= 0.85 * len(after)


def test_a_custom_template_cannot_leave_sources_out():
    rubric = replace(
        with_criteria("wiggum"),
        templates={"draft": "Write it.", "revision": "{{ feedback }}", "judge": "Judge."},
    )
    for prompt in (producer_text(rubric, CALM), producer_text(rubric, CALM, 2), judge_text(rubric, CALM)):
        assert all(source.text in prompt.messages[1].content for source in CALM)


# --- rules ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("profile", PROFILES)
def test_both_roles_see_sources_by_default(profile):
    rules = rubric_for(profile).context
    assert Information.SOURCES in rules.allowed(Role.JUDGE)
    assert Information.SOURCES in rules.allowed(Role.PRODUCER)


@pytest.mark.parametrize("hidden", ["judge", "producer"])
def test_a_rule_hides_them_from_one_role_alone(hidden):
    rubric = with_criteria("wiggum")
    rules = replace(rubric.context, **{hidden: getattr(rubric.context, hidden) - {Information.SOURCES}})
    narrowed = replace(rubric, context=rules)
    for role, make in (("judge", judge_text), ("producer", producer_text)):
        whole = "".join(message.content for message in make(narrowed, CALM).messages)
        assert ("nine" in whole, "minutes.txt" in whole, "SOURCE" in whole) == ((role != hidden,) * 3)


# --- hostile sources --------------------------------------------------------------------------------
each_attack = pytest.mark.parametrize("entry", CORPUS, ids=[entry["name"] for entry in CORPUS])


@each_attack
@pytest.mark.parametrize("make", [judge_text, producer_text])
def test_a_hostile_source_changes_nothing_in_the_messages_structure(make, entry):
    rubric, text = with_criteria("wiggum"), hostile(entry)
    calm = make(rubric, CALM, 2)
    # As they are stored: the name is on one line.
    attacked = make(rubric, sources_cleaned([SourceText(text, text), CALM[1]]), 2)

    assert [message.role for message in attacked.messages] == ["system", "user"]
    assert attacked.messages[0] == calm.messages[0]
    user, before = attacked.messages[1].content, calm.messages[1].content
    assert user.count(NONCE) == before.count(NONCE)
    for number in (1, 2):
        marks = fence(NONCE, f"SOURCE {number}")
        assert user.count(marks.opening) == user.count(marks.closing) == 1
    # What follows the sources is the same.
    after = fence(NONCE, "SOURCE 1").closing
    assert user.split(after)[1] == before.split(after)[1]
    if make is judge_text:
        assert user.endswith(CLOSING)
    assert not any(tag in user for tag in ROLE_TAGS)
