"""Charts of a judge's agreement with people."""

import pytest

from refinement.charts.agreement import Track, agreement_track, bias_track, score_grid, share_track


def figure(value, low=None, high=None):
    return {"value": value, "low": low, "high": high}


def percent(text):
    return float(text.removesuffix("%"))


def test_a_span_keeps_its_order_and_stays_inside():
    span = Track(0, 1).span(figure(0.5, 0.25, 3.0))
    assert percent(span.low_x) < percent(span.x) < percent(span.high_x) <= 100
    assert percent(span.width) == pytest.approx(percent(span.high_x) - percent(span.low_x), abs=0.11)


def test_a_figure_without_an_interval_is_a_dot_and_no_figure_is_nothing():
    assert Track(0, 1).span(figure(0.5)).width == "0.0%"
    assert Track(0, 1).span(None) is None
    assert Track(0, 1).span(figure(None)) is None


@pytest.mark.parametrize(("lowest", "start"), [(0.2, 0.0), (-0.05, -0.2), (-0.9, -1.0)])
def test_agreement_starts_at_zero_unless_a_figure_is_below(lowest, start):
    track = agreement_track([figure(0.5, lowest, 0.7), None])
    assert (track.low, track.high) == (start, 1.0)


def test_shares_start_at_a_round_tenth():
    assert share_track([figure(0.51, 0.42, 0.6)]).low == pytest.approx(0.4)
    assert share_track([]).low == 0.8


@pytest.mark.parametrize(
    ("far", "width", "reach"), [(1.8, 10, 2), (0.1, 10, 1), (34, 100, 50), (0.03, 1, 0.1)]
)
def test_bias_has_zero_in_the_middle(far, width, reach):
    track = bias_track([figure(far, -far / 2, far)], width)
    assert (track.low, track.high) == pytest.approx((-reach, reach))
    assert track.at(0) == "50.0%"


def test_ticks_at_the_ends_stay_inside():
    ticks = Track(-2, 2).ticks((-2, 0, 2), signed=True)
    assert [(tick["text"], tick["anchor"]) for tick in ticks] == [
        ("−2", "start"),
        ("0", "middle"),
        ("+2", "end"),
    ]


def test_scores_against_scores():
    grid = score_grid([[5, 5, 16, 0], [3, 8, 4, 3], [7, 7, 4, 0]], 0, 10, far=3, name="Depth")
    assert grid.words == "Depth: 24 texts, 20 with the same score, 3 at least 3 apart"
    assert grid.bubbles[1].words.endswith(": 4 texts, 3 of them 3 or more apart")
    assert [bubble.far for bubble in grid.bubbles] == [False, True, False]
    large, small = float(grid.bubbles[0].r), float(grid.bubbles[1].r)
    assert large == pytest.approx(2 * small, abs=0.1)  # a quarter of the texts has a quarter of the area
    on_the_line = [bubble for bubble in grid.bubbles if not bubble.far]
    slope = [float(b.x) - grid.left + float(b.y) for b in on_the_line]
    assert slope[0] == pytest.approx(slope[1], abs=12)


@pytest.mark.parametrize(("least", "most"), [(0, 1), (1, 5), (0, 10), (0, 100), (1, 10)])
def test_fine_scales_are_put_into_few_columns(least, most):
    values = [least + (most - least) * n / 200 for n in range(201)]
    grid = score_grid(
        [[value, value, 1, 0] for value in values], least, most, far=(most - least) / 3, name="x"
    )
    assert len({bubble.x for bubble in grid.bubbles}) <= 11
    places = [float(part) for bubble in grid.bubbles for part in (bubble.x, bubble.y)]
    assert all(0 < place < grid.size for place in places)


def test_one_score_alone_is_drawn():
    assert len(score_grid([[5, 5, 3, 0]], 0, 10, far=3, name="x").bubbles) == 1
    assert score_grid([], 0, 10, far=3, name="x") is None
