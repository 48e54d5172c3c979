"""The tools of an agent: what each costs, in which words, which of them a query needs, and calls as written."""

from ctxcourse.tools.calls import ToolCall, parse_tool_calls
from ctxcourse.tools.catalogues import catalogue, load_keywords, load_tools
from ctxcourse.tools.costs import ToolCosts
from ctxcourse.tools.scaffolding import scaffolding_hypotheses
from ctxcourse.tools.selection import ToolChoice, ToolSelection, ToolsetError
from ctxcourse.tools.text import ToolTextError, search_text, trim_prose
from ctxcourse.tools.toolset import Toolset

__all__ = [
    "ToolCall",
    "ToolChoice",
    "ToolCosts",
    "ToolSelection",
    "ToolTextError",
    "Toolset",
    "ToolsetError",
    "catalogue",
    "load_keywords",
    "load_tools",
    "parse_tool_calls",
    "scaffolding_hypotheses",
    "search_text",
    "trim_prose",
]
