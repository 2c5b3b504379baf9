"""A match: one engine against tables of another, on duplicate deals, with its statistics."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from bigtop.boards import Run
from bigtop.pictures import History
from bigtop.runs import BoardResult
from bigtop.statistics import (
    Estimate,
    MatchSums,
    SequentialTest,
    Verdict,
    estimate,
    sequential,
    variance_ratio,
    win_share,
)


@dataclass
class MatchStanding:
    """How a match stands: sums over the boards that were counted.

    Attributes:
        run: what is played; the first engine is A, the second B.
        test: two hypotheses about A's margin that may end the match early.
        history: takes in margin and gain as they go, for a picture.
    """

    run: Run
    test: SequentialTest | None = None
    history: History | None = None
    sums: MatchSums = field(init=False)
    boards: int = 0
    rounds: int = 0
    cut_rounds: int = 0
    forfeits: list[int] = field(default_factory=lambda: [0, 0])
    reasons: dict[str, int] = field(default_factory=dict)
    """How often a round was given up, by engine and reason."""

    def __post_init__(self) -> None:
        self.sums = MatchSums(self.run.players)

    def add(self, result: BoardResult) -> None:
        """Count a board."""
        control = None
        points = []
        for table in result.tables:
            if table.control:
                control = table.points
            else:
                points.append(table.points)
                self.rounds += table.rounds
                self.cut_rounds += table.cut
            for seat, why in table.forfeits:
                engine = table.engines[seat]
                self.forfeits[engine] += 1
                reason = f"{self.run.engines[engine]}: {why}"
                self.reasons[reason] = self.reasons.get(reason, 0) + 1
        self.sums.add(points, control)
        self.boards += 1
        if self.history is not None:
            self.history.note(self.boards, lambda: [self.margin, self.gain])

    @property
    def margin(self) -> Estimate:
        """A's points minus the mean of the others', a table."""
        return estimate(self.sums.margin)

    @property
    def gain(self) -> Estimate:
        """A's points minus B's in the same seat of the same deal, a table."""
        return estimate(self.sums.gain)

    @property
    def verdict(self) -> Verdict | None:
        """Where the sequential test stands, when there is one."""
        return None if self.test is None else sequential(self.sums.margin, self.test)

    def decided(self) -> bool:
        """Whether the sequential test has accepted a hypothesis."""
        verdict = self.verdict
        return verdict is not None and verdict.accepted is not None

    def json(self, seconds: float) -> dict[str, Any]:
        """The object that `bigtop match --json` prints."""
        verdict = self.verdict
        points = estimate(self.sums.points)
        share = win_share(self.sums.share)
        return {
            "engines": list(self.run.engines),
            "players": self.run.players,
            "unit": self.run.unit,
            "boards": self.boards,
            "rounds": self.rounds,
            "margin": asdict(self.margin),
            "points": {"mean": points.mean, "se": points.se},
            "win_share": {"mean": share.mean, "ci95": share.ci95},
            "gain": asdict(self.gain),
            "variance_ratio": variance_ratio(self.sums.gain, self.sums.margin),
            "cut_rounds": self.cut_rounds,
            "forfeits": self.forfeits,
            "forfeit_reasons": self.reasons,
            "stop": None if verdict is None else asdict(verdict),
            "seconds": seconds,
            "seed": self.run.seed,
        }
