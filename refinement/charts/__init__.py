"""Computes the geometry of charts for SVG templates. No Django, no I/O."""

from refinement.charts.lanes import JudgeScore, Lane, LaneAxis, glyph, lane, lane_axis
from refinement.charts.metric import MetricChart, MetricSeries, metric_chart, metric_words, value_words
from refinement.charts.palette import DARK, LIGHT, Palette
from refinement.charts.parts import Mark, Series
from refinement.charts.sparkline import Sparkline, sparkline
from refinement.charts.trajectory import TrajectoryChart, trajectory_chart

__all__ = [
    "DARK",
    "LIGHT",
    "JudgeScore",
    "Lane",
    "LaneAxis",
    "Mark",
    "MetricChart",
    "MetricSeries",
    "Palette",
    "Series",
    "Sparkline",
    "TrajectoryChart",
    "glyph",
    "lane",
    "lane_axis",
    "metric_chart",
    "metric_words",
    "sparkline",
    "trajectory_chart",
    "value_words",
]
