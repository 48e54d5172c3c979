"""Pictures: budgets, the needle experiments, and those of ordering, compression and tools; all with alt text."""

from ctxcourse.plots.agent import buckets_plot, policies_plot
from ctxcourse.plots.budget import budget_bar, turn_bars
from ctxcourse.plots.curves import interference_plot, length_plot, position_plot
from ctxcourse.plots.experiments import compress_plot, order_plot, tools_plot
from ctxcourse.plots.grids import heat_map, rows_plot
from ctxcourse.plots.pictures import OUTCOME_COLOURS, PART_STYLES, Picture, PlotError

__all__ = [
    "OUTCOME_COLOURS",
    "PART_STYLES",
    "Picture",
    "PlotError",
    "buckets_plot",
    "budget_bar",
    "compress_plot",
    "heat_map",
    "interference_plot",
    "length_plot",
    "order_plot",
    "policies_plot",
    "position_plot",
    "rows_plot",
    "tools_plot",
    "turn_bars",
]
