# SPDX-License-Identifier: BSD-3-Clause
"""The page of a report: page.html with its style, its script and the data of the trace inside, so
that it needs nothing else. The table is in the page as it is; the timelines are drawn by the
script."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from . import lanes, words
from .findings import SECOND, Findings, Prediction, Row
from .losses import Loss
from .model import EPOCH_KINDS, Call, Epoch, Rank, name_in_mpi
from .patterns import PATTERNS
from .symbols import Place

# What one page can draw and a browser can hold; of more, what is short and close is drawn as one.
_MOST_DRAWN = 300_000
_MOST_LANES = 4
_MOST_ROWS = 40

COLOURS = dict(
    zip(
        PATTERNS,
        (
            "#d95f02",
            "#8c510a",
            "#e6ab02",
            "#c0223b",
            "#9bc53d",
            "#1b8a5a",
            "#7b4fb5",
            "#c994e0",
            "#1f77b4",
            "#17a2b8",
            "#66727f",
            "#b8860b",
        ),
    )
)


def render(found: Findings, title: str) -> str:
    here = Path(__file__).parent
    text = (here / "page.html").read_text()
    data = json.dumps(_data(found), separators=(",", ":")).replace("</", "<\\/")
    parts = {
        "@TITLE@": html.escape(title),
        "@STYLE@": (here / "page.css").read_text(),
        "@SCRIPT@": (here / "page.js").read_text(),
        "@TILES@": _tiles(found),
        "@SENTENCE@": _sentence(found),
        "@NOTES@": "".join(f"<p class=note>{html.escape(note)}</p>" for note in found.notes),
        "@BAR@": _bar(found),
        "@ROWS@": "\n".join(
            _table_row(found, number, row) for number, row in enumerate(found.rows[:_MOST_ROWS])
        )
        or "<tr><td colspan=6>No pattern was found.</td></tr>",
        "@DATA@": data,  # last: it may hold anything
    }
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


def height(found: Findings) -> int:
    """About how many pixels the page is high: for pictures, which end in some white."""
    ranks = len(found.job.ranks)
    overview = min(max(64 * ranks, 170), 430)  # as page.js has it, and the close-up
    closeup = 22 + 108 * min(ranks, 2) if found.rows else 0
    remedies = [len(row.predictions) for row in found.rows[:_MOST_ROWS]]
    table = sum(max(100, 24 + 40 * count) for count in remedies)
    return (500 if found.rows else 430) + overview + closeup + table


# What stands in the page.


def _tiles(found: Findings) -> str:
    lost = sum(row.lost for row in found.rows)
    whole = found.rank_time
    tiles = [
        (str(len(found.job.ranks)), "ranks"),
        (words.seconds(found.recorded), "from the first to the last event"),
        (words.share(found.waited, whole) or "0%", "of the time of all ranks in calls on windows"),
        (words.share(lost, whole) or "0%", "of the time of all ranks lost to the patterns"),
    ]
    if found.everything is not None:
        tiles.append((words.seconds(found.everything), "predicted with all remedies below at once"))
    return "".join(
        f"<div class=tile><b>{html.escape(value)}</b><span>{html.escape(what)}</span></div>"
        for value, what in tiles
    )


def _sentence(found: Findings) -> str:
    main = next(iter(found.by_pattern().items()), None)
    if main is None or main[1] < 0.001 * found.rank_time:
        return "No pattern took more than 0.1% of the time."
    row = next(row for row in found.rows if row.pattern == main[0])
    won = row.predictions[0] if row.predictions else None
    text = (
        f"Most is lost to <b>{main[0]}</b>: {words.seconds(main[1])}, "
        f"{words.share(main[1], found.rank_time)} of the time of all ranks."
    )
    if won is not None:
        text += (
            f" <code>{html.escape(won.remedy.call)}</code> would win back "
            f"{html.escape(words.prediction(found, won))}."
        )
    return text


def _bar(found: Findings) -> str:
    """How the time of all ranks is shared out."""
    whole = found.rank_time or 1.0
    patterns = found.by_pattern()
    lost = sum(patterns.values())
    rest = whole - found.waited - found.elsewhere
    parts = [("computing", rest, "#e3e7ec")]
    parts.append(("asleep in other calls", found.elsewhere, "#c6d3e3"))
    parts.append(("in calls on windows, no pattern", max(found.waited - lost, 0.0), "#b3bdc9"))
    parts += [(name, time, COLOURS[name]) for name, time in patterns.items()]
    shown = [(name, time, colour) for name, time, colour in parts if time > 0.0005 * whole]
    bar = "".join(
        f'<i style="width:{100 * time / whole:.3f}%;background:{colour}" '
        f'title="{name}: {words.seconds(time)}"></i>'
        for name, time, colour in shown
    )
    legend = "".join(
        f'<span><i style="background:{colour}"></i>{name} {words.share(time, whole)}</span>'
        for name, time, colour in shown
    )
    return f"<div class=bar>{bar}</div><div class=legend>{legend}</div>"


def _table_row(found: Findings, number: int, row: Row) -> str:
    def line(call: str, place: str) -> str:
        if not call:
            return "&mdash;"
        return f"<code>{name_in_mpi(call)}</code><br>{html.escape(place)}"

    who = html.escape(words.ranks(row.by))
    caused = line(row.culprit, row.culprit_line) if row.culprit else ""
    by = f"{caused}{'<br>' if caused and who else ''}{'rank ' + who if who else ''}"
    most = found.rows[0].lost or 1.0
    colour = COLOURS[row.pattern]
    won = "".join(_remedy(found, each) for each in row.predictions) or "<p>too little to look</p>"
    return (
        f'<tr data-row="{number}"><td><i class=dot style="background:{colour}"></i>{row.pattern}'
        f"</td><td>{row.window.number}<br><small>{row.window.flavor}</small></td>"
        f"<td>{line(row.call, row.line)}</td><td>{by}</td>"
        f"<td class=number><b>{words.seconds(row.lost)}</b><br>"
        f"{words.share(row.lost, found.rank_time)}<br><small>{len(row.losses)} times, "
        f"{row.victims} rank{'s' if row.victims != 1 else ''}</small>"
        f'<div class=share><i style="width:{100 * row.lost / most:.1f}%;background:{colour}"></i>'
        f"</div></td><td>{won}</td></tr>"
    )


def _remedy(found: Findings, each: Prediction) -> str:
    return (
        f"<p><code>{html.escape(each.remedy.call)}</code> {html.escape(each.remedy.what)}: "
        f"<b>{html.escape(words.prediction(found, each))}</b></p>"
    )


# What the script draws.


def _data(found: Findings) -> dict[str, Any]:
    job = found.job
    rows = {id(loss): number for number, row in enumerate(found.rows) for loss in row.losses}
    by_rank: dict[int, list[Loss]] = {rank: [] for rank in job.ranks}
    for loss in found.losses:
        by_rank[loss.rank].append(loss)
    places: dict[Place, int] = {}
    drawn = sum(len(rank.calls) + len(rank.epochs) for rank in job.ranks.values())
    drawn += len(found.losses)
    close = found.recorded * SECOND / 4000 * min(drawn / _MOST_DRAWN, 8) if (
        drawn > _MOST_DRAWN
    ) else 0.0
    begin = job.begin
    ranks = [
        _rank(rank, by_rank[number], rows, places, begin, close)
        for number, rank in sorted(job.ranks.items())
    ]
    return {
        "total": round(job.end - begin),
        "kinds": EPOCH_KINDS,
        "patterns": [[name, COLOURS[name]] for name in PATTERNS],
        "places": [str(place) for place in places],
        "worst": [_worst(row, begin) for row in found.rows[:_MOST_ROWS]],
        "merged": round(close),
        "ranks": ranks,
    }


def _worst(row: Row, begin: float) -> list[int]:
    """Its longest loss: from, to, who lost, who caused it."""
    loss = max(row.losses, key=lambda each: each.span.length)
    return [
        round(loss.span.begin - begin),
        round(loss.span.end - begin),
        loss.rank,
        loss.by,
    ]


def _rank(
    rank: Rank,
    losses: list[Loss],
    rows: dict[int, int],
    places: dict[Place, int],
    begin: float,
    close: float,
) -> dict[str, Any]:
    def at(time: float | None) -> int:
        return round((rank.end if time is None else time) - begin)

    calls = [
        [at(call.enter), at(call.leave), call.label, places.setdefault(call.place, len(places))]
        for call in rank.calls
    ]
    lost = [
        [
            at(loss.span.begin),
            at(loss.span.end),
            PATTERNS.index(loss.pattern),
            loss.by,
            rows[id(loss)],
            at(loss.culprit.enter) if loss.culprit is not None else -1,
        ]
        for loss in sorted(losses, key=lambda each: each.span.begin)
    ]
    return {
        "rank": rank.rank,
        "node": rank.node,
        "span": [at(rank.begin), at(rank.end)],
        "calls": _merged(calls, close),
        "losses": _merged(lost, close),
        "naps": _merged([[at(nap.begin), at(nap.end)] for nap in rank.asleep_elsewhere()], close),
        "epochs": _epochs(rank.epochs, at, rank.end, close),
    }


def _merged(items: list[list[Any]], close: float) -> list[list[Any]]:
    """Those that are shorter than `close` become one with their neighbours within twice that: as
    long as all of them, and what the longest is."""
    if close <= 0:
        return items
    kept: list[list[Any]] = []
    until, longest = 0.0, 0.0
    for item in items:
        length = item[1] - item[0]
        if kept and length < close and item[0] < until:
            last = kept[-1]
            begin, end = last[0], last[1] + length
            if length > longest:
                longest = length
                last[2:] = item[2:]
            last[:2] = [begin, end]
        else:
            kept.append(list(item))
            until = item[0] + 2 * close if length < close else 0.0
            longest = length
    return kept


def _epochs(epochs: Sequence[Epoch], at: Any, rank_end: float, close: float) -> list[list[Any]]:
    """From opened to completed, in lanes in which they do not overlap; with the moments between,
    peers, bytes and operations."""
    drawn: list[list[Any]] = []
    shown = [
        epoch
        for epoch in epochs
        if at(epoch.completed) - at(epoch.opened) >= close
        and not (epoch.opening and epoch.opening.name == "free")
    ]
    for epoch, lane in lanes.assign(shown, rank_end):
        opened, completed = at(epoch.opened), at(epoch.completed)
        drawn.append(
            [
                opened,
                completed,
                EPOCH_KINDS.index(epoch.kind) if epoch.kind in EPOCH_KINDS else 0,
                min(lane, _MOST_LANES - 1),
                at(epoch.all_granted) if epoch.granted else -1,
                at(epoch.closed) if epoch.closed is not None else -1,
                _short(epoch.peers),
                epoch.bytes,
                [at(operation.time) for operation in epoch.operations[:64]],
            ]
        )
    return drawn


def _short(peers: Iterable[int]) -> str:
    shown = list(peers)
    more = f" and {len(shown) - 4} more" if len(shown) > 4 else ""
    return ", ".join(map(str, shown[:4])) + more
