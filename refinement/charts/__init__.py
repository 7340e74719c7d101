"""Computes the geometry of charts for SVG templates. No Django, no I/O."""

from refinement.charts.palette import DARK, LIGHT, Palette
from refinement.charts.sparkline import Sparkline, sparkline
from refinement.charts.trajectory import Mark, Series, TrajectoryChart, trajectory_chart

__all__ = [
    "DARK",
    "LIGHT",
    "Mark",
    "Palette",
    "Series",
    "Sparkline",
    "TrajectoryChart",
    "sparkline",
    "trajectory_chart",
]
