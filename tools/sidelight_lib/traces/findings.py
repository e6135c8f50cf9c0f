# SPDX-License-Identifier: BSD-3-Clause
"""The table of a report: what was lost to which pattern, where, by whom, and what wins it back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from . import losses, plan, remedies, replay, symbols
from .losses import Loss
from .model import Call, Job, Window
from .patterns import PATTERNS
from .remedies import Remedy
from .replay import Outcome
from .symbols import Place

SECOND = 1e9
_LEAST_SHARE = 0.001  # of all the time of all ranks; what is less is not looked into
_MOST_ROWS = 12  # that are replayed
_MOST_STEPS = 1_000_000  # that are replayed, in all


@dataclass
class Prediction:
    """What a remedy does to the job, or at most does where a replay cannot tell."""

    remedy: Remedy
    total: float | None  # seconds of the job with it
    saved: float  # seconds of the job
    exact: bool
    # The rank that gains most, and by how many seconds it is through earlier.
    rank: int | None = None
    earlier: float = 0.0


@dataclass
class Row:
    """A pattern at one line, caused at one other."""

    pattern: str
    window: Window
    call: str  # that lost the time
    line: str
    culprit: str  # the call that caused it; empty: no call
    culprit_line: str
    losses: list[Loss]
    lost: float  # seconds of all ranks
    by: list[tuple[int, float]]  # who caused how many seconds, the most first
    victims: int  # ranks that lost time
    predictions: list[Prediction] = field(default_factory=list)


@dataclass
class Findings:
    job: Job
    rows: list[Row]  # the most time first
    losses: list[Loss]
    recorded: float  # seconds of the job
    replayed: float  # the same by a replay without changes: how exact predictions are
    waited: float  # seconds of all ranks in calls on windows
    elsewhere: float  # seconds of all ranks asleep in other calls
    rank_time: float  # seconds of all ranks
    everything: float | None  # seconds of the job with all remedies
    notes: list[str]

    def by_pattern(self) -> dict[str, float]:
        """Seconds of all ranks; the most first."""
        total: dict[str, float] = defaultdict(float)
        for row in self.rows:
            total[row.pattern] += row.lost
        return dict(sorted(total.items(), key=lambda item: -item[1]))


Advance = Callable[[str], None]


def analyse(job: Job, ahead: int = 4, advance: Advance = lambda _: None) -> Findings:
    """`ahead`: how many epochs of one line may be pending where remedies let them. `advance` hears
    what comes next."""
    advance("looking for patterns")
    found = losses.find(job)
    prepared = plan.make(job, found)
    places = _lines(found)
    rows = _rows(found, places)
    advance("replaying the trace")
    unchanged = replay.play(prepared)
    rank_time = sum(rank.end - rank.begin for rank in job.ranks.values()) / SECOND
    findings = Findings(
        job,
        rows,
        found,
        (job.end - job.begin) / SECOND,
        unchanged.total / SECOND,
        _waited(job),
        _elsewhere(job),
        rank_time,
        None,
        _notes(job),
    )
    _predict(findings, prepared, unchanged, ahead, advance)
    return findings


def _lines(found: Iterable[Loss]) -> dict[Place, str]:
    calls = {each.call for each in found} | {each.culprit for each in found if each.culprit}
    return symbols.lines({call.place for call in calls})


def _rows(found: Iterable[Loss], lines: dict[Place, str]) -> list[Row]:
    groups: dict[tuple[object, ...], list[Loss]] = defaultdict(list)
    for loss in found:
        culprit = loss.culprit
        cause = (culprit.name, lines[culprit.place]) if culprit is not None else ("", "")
        key = (loss.pattern, loss.call.window, loss.call.name, lines[loss.call.place], *cause)
        groups[key].append(loss)
    rows = [_row(key, those) for key, those in groups.items()]
    return sorted(rows, key=lambda row: -row.lost)


def _row(key: tuple[object, ...], those: list[Loss]) -> Row:
    by: dict[int, float] = defaultdict(float)
    for loss in those:
        by[loss.by] += loss.span.length / SECOND
    pattern, window, call, line, culprit, culprit_line = key
    assert isinstance(window, Window)
    return Row(
        str(pattern),
        window,
        str(call),
        str(line),
        str(culprit),
        str(culprit_line),
        those,
        sum(loss.span.length for loss in those) / SECOND,
        sorted(by.items(), key=lambda item: -item[1]),
        len({loss.rank for loss in those}),
    )


def _predict(
    findings: Findings, prepared: plan.Plan, unchanged: Outcome, ahead: int, advance: Advance
) -> None:
    left = _MOST_STEPS - prepared.size
    base = findings.replayed
    for row in findings.rows[:_MOST_ROWS]:
        if row.lost < _LEAST_SHARE * findings.rank_time:
            break
        lost_at = frozenset(replay.site(loss.call) for loss in row.losses)
        culprits = {loss.culprit for loss in row.losses if loss.culprit is not None}
        caused_at = frozenset(map(replay.site, culprits))
        for remedy in remedies.for_pattern(row.pattern, lost_at, caused_at, ahead):
            if remedy.change is None or left < prepared.size:
                most = max(_by_rank(row).values())
                row.predictions.append(Prediction(remedy, None, most, False))
                continue
            advance(f"replaying with {remedy.call}")
            left -= prepared.size
            outcome = replay.play(prepared, remedy.change)
            total = outcome.total / SECOND
            # By as much as the replay without changes is off, this one is, too.
            total *= findings.recorded / base if base > 0 else 1.0
            saved = findings.recorded - total
            gains = {rank: end - outcome.ends[rank] for rank, end in unchanged.ends.items()}
            rank = max(gains, key=lambda each: gains[each])
            row.predictions.append(
                Prediction(remedy, total, saved, True, rank, gains[rank] / SECOND)
            )
        row.predictions.sort(key=lambda each: (not each.exact, -each.saved))
    if findings.rows and left >= prepared.size:
        advance("replaying with all of them")
        total = replay.play(prepared, remedies.everything(ahead)).total / SECOND
        findings.everything = total * (findings.recorded / base if base > 0 else 1.0)


def _by_rank(row: Row) -> dict[int, float]:
    lost: dict[int, float] = defaultdict(float)
    for loss in row.losses:
        lost[loss.rank] += loss.span.length / SECOND
    return lost


def _waited(job: Job) -> float:
    calls: list[Call] = [call for rank in job.ranks.values() for call in rank.calls]
    return sum(
        (call.leave - call.enter for call in calls if call.leave is not None), 0.0
    ) / SECOND


def _elsewhere(job: Job) -> float:
    """Of one thread of each: others may sleep at the same time."""
    naps = (nap for rank in job.ranks.values() for nap in rank.asleep_elsewhere())
    return sum((nap.length for nap in naps), 0.0) / SECOND


def _notes(job: Job) -> list[str]:
    notes = []
    full = [rank.rank for rank in job.ranks.values() if rank.full]
    if full:
        notes.append(
            f"{len(full)} traces ended early, at SIDELIGHT_TRACE_LIMIT or for want of room on the "
            f"disk (rank {full[0]} first): what came later is missing."
        )
    expected = {member for window in job.windows for member in window.members.values()}
    missing = sorted(expected - set(job.ranks))
    if missing:
        notes.append(f"Of {len(missing)} members there is no file (rank {missing[0]} first).")
    if job.of_several_runs:
        notes.append("The files may be of several runs, and what follows mixes them.")
    if job.empty:
        notes.append(f"In {len(job.empty)} files there is nothing ({job.empty[0]} first).")
    if not job.windows:
        notes.append("There is no window in it.")
    return notes


def as_dict(findings: Findings) -> dict[str, object]:
    """For scripts. Times are seconds."""
    patterns = findings.by_pattern()
    return {
        "ranks": len(findings.job.ranks),
        "seconds": findings.recorded,
        "replayed_seconds": findings.replayed,
        "rank_seconds": findings.rank_time,
        "call_seconds": findings.waited,
        "asleep_elsewhere_seconds": findings.elsewhere,
        "with_everything_seconds": findings.everything,
        "patterns": {name: patterns.get(name, 0.0) for name in PATTERNS},
        "rows": [_row_as_dict(row) for row in findings.rows],
        "notes": findings.notes,
    }


def _row_as_dict(row: Row) -> dict[str, object]:
    return {
        "pattern": row.pattern,
        "window": row.window.number,
        "flavor": row.window.flavor,
        "call": row.call,
        "line": row.line,
        "caused_by_call": row.culprit,
        "caused_at_line": row.culprit_line,
        "caused_by_ranks": [{"rank": rank, "seconds": seconds} for rank, seconds in row.by[:16]],
        "victims": row.victims,
        "times": len(row.losses),
        "lost_seconds": row.lost,
        "remedies": [
            {
                "call": each.remedy.call,
                "what": each.remedy.what,
                "seconds_with_it": each.total,
                "saved_seconds": each.saved,
                "replayed": each.exact,
                "rank_most_earlier": each.rank,
                "seconds_earlier": each.earlier,
            }
            for each in row.predictions
        ],
    }
