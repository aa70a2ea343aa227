"""Charts of the report, as inline SVG: each is a pure function of the summary's numbers.

Bars start at zero, every interval says its confidence, colours stay apart for colour-blind readers (Okabe and Ito).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

BEFORE, AFTER, MUTED, ALERT = "#56B4E9", "#009E73", "#B0B7BF", "#D55E00"
SERIES = ("#56B4E9", "#009E73", "#E69F00", "#0072B2", "#CC79A7", "#F0E442", "#D55E00", "#B0B7BF")


def families(rows: Sequence[Mapping[str, Any]]) -> str:
    """Held-out success of champion and candidate by task family."""

    def draw(axes: Any) -> None:
        names = [f"{row['family']}\n({row['tasks']})" for row in rows]
        places = range(len(rows))
        axes.bar([x - 0.2 for x in places], [row["champion"] for row in rows], 0.4, label="champion", color=BEFORE)
        axes.bar([x + 0.2 for x in places], [row["candidate"] for row in rows], 0.4, label="candidate", color=AFTER)
        axes.set_xticks(list(places), names, fontsize=8)
        axes.set_ylim(0, 1)
        axes.set_ylabel("task success")
        axes.legend(frameon=False, fontsize=8)

    return _svg(draw, width=6.4)


def difference(arms: Sequence[Mapping[str, Any]]) -> str:
    """Paired difference to the champion with its interval, one line per arm."""

    def draw(axes: Any) -> None:
        for place, arm in enumerate(reversed(list(arms))):
            axes.plot([arm["low"], arm["high"]], [place, place], color=AFTER, linewidth=3, solid_capstyle="butt")
            axes.plot([arm["difference"]], [place], "o", color=AFTER)
        axes.axvline(0, color=ALERT, linewidth=1)
        axes.set_yticks(range(len(arms)), [arm["name"] for arm in reversed(list(arms))])
        axes.set_xlabel("difference in task success to the champion, 95% interval")
        axes.set_ylim(-0.6, len(arms) - 0.4)

    return _svg(draw, width=6.4, height=0.9 + 0.45 * len(arms))


def days(rows: Sequence[Mapping[str, Any]]) -> str:
    """Sessions of each day by how they ended."""

    def draw(axes: Any) -> None:
        names = [row["day"][5:] for row in rows]
        bottom = [0] * len(rows)
        for key, colour in (("success", AFTER), ("unknown", MUTED), ("failure", ALERT)):
            values = [row[key] for row in rows]
            axes.bar(names, values, bottom=bottom, color=colour, label=key)
            bottom = [low + value for low, value in zip(bottom, values, strict=True)]
        axes.set_ylabel("sessions")
        axes.legend(frameon=False, fontsize=8, ncols=3)

    return _svg(draw, width=6.4)


def found(rows: Sequence[Mapping[str, Any]]) -> str:
    """Personal values replaced on each day, by channel."""
    channels = sorted({name for row in rows for name in row["channels"]})

    def draw(axes: Any) -> None:
        names = [row["day"][5:] for row in rows]
        places = list(range(len(rows)))
        bottom = [0] * len(rows)
        for place, channel in enumerate(channels):
            values = [row["channels"].get(channel, 0) for row in rows]
            axes.bar(places, values, bottom=bottom, color=SERIES[place % len(SERIES)], label=channel)
            bottom = [low + value for low, value in zip(bottom, values, strict=True)]
        shown = places[:: max(1, len(places) // 12)]
        axes.set_xticks(shown, [names[place] for place in shown], fontsize=8)
        axes.set_ylabel("values replaced")
        axes.legend(frameon=False, fontsize=8, ncols=4)

    return _svg(draw, width=6.4)


def rates(rows: Sequence[Mapping[str, Any]], label: str) -> str:
    """A rate with its 95% interval, one line a row."""

    def draw(axes: Any) -> None:
        for place, row in enumerate(reversed(list(rows))):
            colour = AFTER if row["enough"] else MUTED
            axes.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=3, solid_capstyle="butt")
            axes.plot([row["value"]], [place], "o", color=colour)
        axes.set_yticks(range(len(rows)), [row["name"] for row in reversed(list(rows))], fontsize=8)
        axes.set_xlim(0, 1.02)
        axes.set_xlabel(f"{label}, 95% interval (grey: too few to say)")
        axes.set_ylim(-0.6, len(rows) - 0.4)

    return _svg(draw, width=6.4, height=0.9 + 0.3 * len(rows))


def steps(rows: Sequence[Mapping[str, Any]]) -> str:
    """Seconds of each step."""

    def draw(axes: Any) -> None:
        names = [row["step"] for row in reversed(list(rows))]
        values = [row["seconds"] for row in reversed(list(rows))]
        axes.barh(names, values, color=BEFORE)
        axes.tick_params(axis="y", labelsize=7)
        axes.set_xlabel("seconds")

    return _svg(draw, width=6.4, height=1.0 + 0.22 * len(rows))


def _svg(draw: Callable[[Any], None], width: float, height: float = 2.8) -> str:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    draw(axes)
    for label in figure.findobj(Text):
        label.set_parse_math(False)  # names come from traces: a dollar sign is a dollar sign
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
