"""Parts of the table of people's scores that are written without a template."""

from refinement.selectors.human_scores import ScoreCell
from refinement.templatetags.people import score_cells, score_reasons

HOSTILE = "<script>'&\""
ESCAPED = "&lt;script&gt;&#x27;&amp;&quot;"


def test_a_cell_says_the_score_and_how_far_it_is_from_the_judges():
    assert score_cells((ScoreCell("7", ""), ScoreCell("8", "+1"))) == (
        '<td class="number">7</td><td class="number">8 <span class="soft small">+1</span></td>'
    )


def test_what_people_wrote_is_text():
    assert score_cells([ScoreCell(HOSTILE, HOSTILE)]).count(ESCAPED) == 2
    written = score_reasons([(HOSTILE, HOSTILE, HOSTILE), ("Clarity", "7", "As it is.")])
    assert written.count(ESCAPED) == 3
    assert "<script" not in written
    assert written.endswith(
        '<p><b><bdi>Clarity</bdi></b> <span class="num">7</span>: <bdi class="text-block">As it is.</bdi></p>'
    )


def test_without_any_there_is_nothing():
    assert score_cells(()) == score_reasons(()) == ""
