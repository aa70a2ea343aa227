"""Renders a summary to one HTML file that needs nothing else.

Everything that came out of a trace passes the template's autoescaping; only the charts, made here from numbers, are
inserted as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipelines.report import charts

TEMPLATE_DIR = Path(__file__).parent


def render(summary: Mapping[str, Any]) -> str:
    """The report as HTML."""
    evaluation = summary["evaluation"]
    arms = summary["arms"] or [{"name": "all levers", **evaluation}]
    pictures = {
        "families": charts.families(evaluation["families"]) if evaluation["families"] else "",
        "difference": charts.difference(arms) if evaluation["families"] else "",
        "days": charts.days(summary["days"]),
        "steps": charts.steps(summary["steps"]),
    }
    return page("template.html", summary, pictures)


def page(template: str, summary: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """A page of a template over values, which are text, and charts, which are markup."""
    import jinja2
    import markupsafe

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE_DIR),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The charts are markup that this package made from numbers and names that matplotlib escapes.
    marked = {name: markupsafe.Markup(picture) for name, picture in pictures.items()}  # noqa: S704
    return environment.get_template(template).render(summary=summary, charts=marked)


def write(summary: Mapping[str, Any], target: Path) -> Path:
    """Render into ``target`` and return it."""
    return put(render(summary), target)


def put(text: str, target: Path) -> Path:
    """Write a page and return where it is."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target
