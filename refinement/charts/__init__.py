"""Charts as plain geometry: numbers go in, points for an SVG template come out. No Django, no I/O."""

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
