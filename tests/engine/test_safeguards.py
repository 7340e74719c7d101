from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.safeguards import (
    MANY_WORDS,
    WELL_KNOWN_OBJECTS,
    Kinship,
    change,
    code_in,
    family_of,
    inline_code,
    invented_names,
    is_cycling,
    kinship,
    penalties_for,
    ralph_signal,
    split_at_fences,
)
from refinement.engine.types import Assessment, CriterionScore, Penalties, ProblemClass, Round, Verdict
from tests.engine.given import D, rubric, scored, verdict


def fenced(*lines: str) -> str:
    return "\n".join(["Before", "```python", *lines, "```", "after"])


def flagged(*lines: str, allowed: tuple[str, ...] = WELL_KNOWN_OBJECTS) -> tuple[str, ...]:
    return invented_names(code_in(fenced(*lines)), allowed)


# --- invented API names --------------------------------------------------------------------------


def test_an_invented_name_is_flagged():
    assert flagged("client.generate_contextual_embedding_chain()") == (
        "client.generate_contextual_embedding_chain",
    )


@pytest.mark.parametrize(
    "line",
    [
        "np.ascontiguousarray(x)",
        "logging.getLogger(__name__)",
        "tf.keras.utils.image_dataset_from_directory('x')",
        "response.x.self.assert_something_long()",
        "client.shortname()",
        "client.abcdefghijk()",  # eleven
        "client.generate_v2_embedding_chain()",  # a digit
        "client.generateContextualEmbedding()",
        "generate_contextual_embedding_chain()",
        "client.generate_contextual_embedding_chain",
        "# see .generate_contextual_embedding_chain()",
    ],
)
def test_these_are_not_flagged(line):
    assert flagged(line) == ()


def test_twelve_characters_are_enough():
    assert flagged("client.abcdefghijkl()") == ("client.abcdefghijkl",)
    assert flagged("client.abc_efgh_jkl ()") == ("client.abc_efgh_jkl",)


def test_each_call_counts():
    line = "client.generate_contextual_embedding_chain()"
    assert len(flagged(line, line, "other.transmogrify_everything(1)")) == 3


CALL = "client.generate_contextual_embedding_chain()"
NAME = "client.generate_contextual_embedding_chain"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"Use {CALL} here.", ()),
        (f"Call `{CALL}` once.", (NAME,)),
        (f"Call ``{CALL}`` once.", (NAME,)),
        (f"Call `{CALL}` or\n`{CALL}`.", (NAME, NAME)),
        (f"`one` {CALL} `two`", ()),
        (f"A stray ` and {CALL} alone", ()),
        (f"A stray ` here.\n\nThen {CALL} and ` again.", ()),
        (f"```\n{CALL}\n```\nand `{CALL}`", (NAME, NAME)),
        (f"Prose {CALL}\n```\nx\n```\n{CALL}", ()),
        (f"``` {CALL} ` {CALL} ` ok ```", (NAME, NAME)),
        ("Use `np.ascontiguousarray(x)` and `logging.getLogger(x)`.", ()),
    ],
)
def test_fenced_and_inline_code_are_read_and_prose_is_not(text, names):
    assert invented_names(code_in(text), WELL_KNOWN_OBJECTS) == names


@pytest.mark.parametrize(
    ("prose", "spans"),
    [
        ("", []),
        ("no code", []),
        ("`a` b `c`", ["a", "c"]),
        ("``a ` b`` c", ["a ` b"]),
        ("`a `` b`", ["a `` b"]),
        ("`` a ` b `", [" b "]),
        ("`a\nb`", ["a\nb"]),
        ("`a\n \nb`", []),
    ],
)
def test_inline_code(prose, spans):
    assert inline_code(prose) == spans


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, ()),
        ({"problem_class": ProblemClass.CODE}, (NAME,)),
        ({"artifact_type": "Code"}, (NAME,)),
        ({"problem_class": ProblemClass.PIPELINE}, ()),
    ],
)
def test_where_the_artifact_is_code_the_whole_text_is_read(changes, names):
    of = replace(rubric_for("wiggum"), **changes)
    assert tuple(name for penalty in penalties_for(of, CALL) for name in penalty.names) == names


def test_many_backticks_are_read_in_linear_time():
    text = " ".join("`" * (1 + number % 300) + "a" for number in range(20_000))
    assert invented_names(code_in(text), ()) == ()


def test_the_allow_list_is_the_rubrics():
    line = "client.generate_contextual_embedding_chain()"
    assert flagged(line, allowed=("client",)) == ()
    assert flagged("np.ascontiguousarray(x)", allowed=()) == ("np.ascontiguousarray",)


def test_a_very_long_path_is_judged_by_its_end():
    assert flagged("x" * 500 + ".generate_contextual_chain()")[0].endswith("xxx.generate_contextual_chain")


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("no code", []),
        ("```\na\n```", ["\na\n"]),
        ("~~~py\na\n~~~", ["\na\n"]),
        ("```\na\n~~~\nb\n```", ["\na\n~~~\nb\n"]),
        ("````\n```\nb\n```\n````", ["\n```\nb\n```\n"]),
        ("```\nopen to the end", ["\nopen to the end"]),
        ("```\na\n```\ntext\n```\nb\n```", ["\na\n", "\nb\n"]),
        ("   ```\na\n   ```", ["\na\n"]),
        ("    ```\nindented code, not a fence", []),
    ],
)
def test_fences(text, blocks):
    assert split_at_fences(text)[0] == blocks


def test_a_pathological_text_is_read_in_linear_time():
    assert invented_names(code_in("```\n" + "a." * 200_000 + "\n" + ".a" * 200_000), ()) == ()


@pytest.mark.parametrize(("calls", "points"), [(1, 1), (2, 2), (3, 2), (9, 2)])
def test_penalties_are_capped(calls, points):
    text = fenced(*["client.generate_contextual_embedding_chain()"] * calls)
    (penalty,) = penalties_for(rubric_for("wiggum"), text)
    assert (penalty.criterion, penalty.points, len(penalty.names)) == ("depth", points, calls)


def test_penalties_follow_the_policy():
    rules = Penalties("grounded", points=D("0.5"), cap=D(5))
    text = fenced(*["client.generate_contextual_embedding_chain()"] * 3)
    (penalty,) = penalties_for(rubric("wiggum", penalties=rules), text)
    assert (penalty.criterion, penalty.points) == ("grounded", D("1.5"))


def test_no_names_no_penalty():
    assert penalties_for(rubric_for("wiggum"), "clean") == ()


def test_a_profile_without_a_docked_criterion_has_no_penalties():
    assert penalties_for(rubric_for("simmer"), fenced(CALL)) == ()


# --- cycling -------------------------------------------------------------------------------------


def test_cycling():
    assert is_cycling(scored(7, a="7"), scored(7, a="7"))
    assert not is_cycling(scored(7, a="7"), scored(7, a="8"))
    assert not is_cycling(Assessment(D(1), {}), Assessment(D(1), {}))


# --- change and the Ralph signal -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", "0"),
        ("a b c d", "a b c d", "0"),
        ("a b c d", "a  b\nc d", "0"),
        ("a b c d", "a b c x", "0.25"),
        ("a b", "", "1"),
        ("", "a b", "1"),
        ("a b c d", "a b c d e", "0.2"),
    ],
)
def test_change(before, after, expected):
    assert change(before, after) == D(expected)


def test_long_texts_are_compared_by_lines():
    words = ["word"] * (MANY_WORDS // 2)
    before = " ".join(words) + "\nlast"
    assert change(before, before + " line changed") == D("0.5")
    short = " ".join(words[:-1])  # one word fewer on each side: still compared by words
    assert change(short, short + " x") == D(1) / (len(words))


TEXT = "one two three four five six seven eight nine ten"
CHANGED = "one two three four five six seven eight NINE TEN"
TENTH = "one two three four five six seven eight nine TEN"


def entry(candidate, issues=(), **scores):
    said = verdict(issues=issues, **scores)
    return Round(2, candidate, Assessment(D(7), {}, verdicts=(said,)))


def test_a_judge_that_repeats_its_issues_is_noticed():
    signal = ralph_signal(entry(CHANGED, ("Depth is thin.",)), entry(TEXT, ("depth is THIN.",)))
    assert (signal.candidate_change, signal.verdict_change, signal.about) == (D("0.2"), D(0), "issues")


def test_a_judge_that_repeats_its_reasoning_is_noticed():
    now, before = entry(CHANGED, ("new",), depth="7"), entry(TEXT, ("old",), depth="6")
    assert ralph_signal(now, before).about == "reasoning"
    silent = entry(TEXT, (), depth="6")
    assert ralph_signal(entry(CHANGED, (), depth="7"), silent).about == "reasoning"


def test_a_change_of_a_tenth_is_not_more_than_a_tenth():
    assert ralph_signal(entry(TENTH, ("Same.",)), entry(TEXT, ("Same.",))) is None


def test_a_judge_that_says_something_else_is_tracking():
    assert ralph_signal(entry(CHANGED, ("Now something else.",)), entry(TEXT, ("Depth is thin.",))) is None


def test_a_tenth_of_other_words_is_nearly_the_same():
    nine = ("a b c d e f g h i j",)
    assert ralph_signal(entry(CHANGED, ("a b c d e f g h i X",)), entry(TEXT, nine)) is not None
    assert ralph_signal(entry(CHANGED, ("a b c d e f g h X X",)), entry(TEXT, nine)) is None


@pytest.mark.parametrize(("now", "before"), [((), ("said",)), (("said",), ()), ((), ())])
def test_a_judge_that_says_nothing_gives_no_signal(now, before):
    assert ralph_signal(entry(CHANGED, now), entry(TEXT, before)) is None


def test_empty_reasons_are_no_reasons():
    said = Verdict((CriterionScore("depth", D(7)), CriterionScore("tone", D(7))), issues=("", " "))
    silent = Assessment(D(7), {}, verdicts=(said,))
    assert ralph_signal(Round(2, CHANGED, silent), Round(1, TEXT, silent)) is None


def test_an_unscored_round_gives_no_signal():
    judged = entry(TEXT, ("Same.",))
    waiting = replace(judged, candidate=CHANGED, assessment=None)
    assert ralph_signal(waiting, judged) is None
    assert ralph_signal(judged, waiting) is None


# --- same model or family ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("qwen3:14b", "qwen"),
        ("hf.co/Qwen/Qwen3-14B-GGUF:Q4_K_M", "qwen"),
        ("hf.co/unsloth/Qwen3-14B-GGUF:Q4_K_M", "qwen"),
        ("llama3.1:8b", "llama"),
        ("deepseek-r1:7b", "deepseek"),
        ("01-ai", "01-ai"),
    ],
)
def test_family(model, family):
    assert family_of(model) == family


@pytest.mark.parametrize(
    ("producer", "judge", "families", "expected"),
    [
        ("qwen3:14b", "qwen3:14b", ("", ""), Kinship.SAME_MODEL),
        ("Qwen3:14b", "qwen3:14B", ("", ""), Kinship.SAME_MODEL),
        ("qwen3:14b", "qwen2.5:7b", ("", ""), Kinship.SAME_FAMILY),
        ("mycoder", "othername", ("Qwen3", "qwen3"), Kinship.SAME_FAMILY),
        ("mycoder", "othername", ("qwen3", "gemma"), None),
        ("qwen3:14b", "gemma3:27b", ("", ""), None),
    ],
)
def test_kinship(producer, judge, families, expected):
    assert kinship(producer, judge, producer_family=families[0], judge_family=families[1]) is expected


def test_a_comment_does_not_hide_the_calls_after_it():
    lines = ("# .generate_contextual_embedding_chain()", "client.generate_contextual_embedding_chain()")
    assert flagged(*lines) == ("client.generate_contextual_embedding_chain",)
