"""The tables of a campaign's database, and what each column means.

Times called ``at``, ``began`` and ``ended`` are seconds of the campaign, over all its runs. Totals
that ``status`` shows are kept in the rows of runs and targets, so that it reads no epochs.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    and_,
)


class Words(TypeDecorator[str]):
    """Text; what is not valid Unicode (a file name can hold any bytes) is written as escapes."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """The text as the database can hold it."""
        if value is None:
            return None
        text = value.encode(errors="backslashreplace").decode()
        return text if dialect.name == "sqlite" else text.replace("\0", "\\x00")


class _Text(TypeDecorator[Any]):
    """JSON as text, for databases that would look into it: infinity is none of theirs."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:  # noqa: ARG002
        """The text of a value."""
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Any) -> Any:  # noqa: ARG002
        """The value of a text."""
        return None if value is None else json.loads(value)


_OBJECT = JSON(none_as_null=True).with_variant(_Text(), "postgresql")

metadata = MetaData()


def _needed(name: str, kind: Any, *more: Any) -> Column[Any]:
    return Column(name, kind, *more, nullable=False)


schema_version = Table(
    "schema_version",
    metadata,
    Column("version", Integer, primary_key=True),  # a step of migration that was done
    _needed("fuzzwise", Words),  # the version of fuzzwise that did it
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    _needed("name", Words),  # of the campaign
    Column("budget", Float),  # seconds; null: none
    _needed("cores", Integer),
    _needed("scheduler", Words),
    _needed("epoch", Float),  # seconds of a medium epoch
    _needed("confidence", Float),
    _needed("pid", Integer),  # the process that ran it
    _needed("fuzzwise", Words),  # its version
    _needed("seconds", Float),  # of the campaign, up to the latest that is known of this run
    Column("stop_reason", Words),  # null: it runs, or was killed
    Column("stop_detail", Words),
    Column("own_seconds", Float),  # since version 4: on cores, of the process that runs it
)

targets = Table(
    "targets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Words, nullable=False, unique=True),
    _needed("position", Integer),  # in the campaign file
    _needed("present", Boolean),  # whether the latest campaign file has it
    _needed("engine", Words),
    _needed("finds_coverage", Boolean),
    _needed("share", Words),
    Column("accepted_risk", Float),
    _needed("state", Words),  # waiting, retired or broken; it is fuzzing while running > 0
    _needed("reason", Words),
    _needed("detail", Words),
    _needed("running", Integer),  # epochs under way
    _needed("in_flight", Boolean),  # an epoch of a killed run was never heard of again
    _needed("epochs", Integer),  # that ended
    _needed("inputs", BigInteger),  # of all generations
    _needed("seconds", Float),  # on cores, of all generations
    _needed("generation", Words),  # the name of its present counts; "" before the first
    _needed("species", BigInteger),  # this and the following: as of the latest totals
    _needed("corpus", BigInteger),
    _needed("crashes", BigInteger),
    Column("risk", _OBJECT),  # an estimate
    _needed("trend", Words),
    Column("seconds_left", _OBJECT),  # an estimate
    _needed("warnings", _OBJECT),  # a list of sentences
    _needed("new_bugs", Integer),  # that no other target had shown before
    _needed("looked", BigInteger),  # inputs at the stop rule's last look
    Column("looked_high", Float),  # the upper end of the risk then
    _needed("signature", Words),  # of the files it was made from when it left the schedule; "" none
    Column("seconds_to_decision", Float),  # since version 2: until the stop rule can say stop
    Column("discovery_rate", Float),  # since version 2: discoveries to expect in a second
    Column("stability", Float),  # since version 3: the share of coverage that stays the same
    Column("builds", _OBJECT),  # since version 5: a list of its builds, where it has several
)

generations = Table(
    "generations",  # the counts of a target; those of two generations do not add up to one estimate
    metadata,
    Column("id", Integer, primary_key=True),
    _needed("target_id", Integer, ForeignKey("targets.id")),
    _needed("name", Words),
    _needed("inputs", BigInteger),  # this and the following: highest totals that were told
    _needed("seconds", Float),
    _needed("discoveries", BigInteger),
    UniqueConstraint("target_id", "name"),
)

epochs = Table(
    "epochs",
    metadata,
    Column("id", Integer, primary_key=True),
    _needed("run_id", Integer, ForeignKey("runs.id")),
    _needed("target_id", Integer, ForeignKey("targets.id")),
    _needed("began", Float),
    Column("ended", Float),  # null: it runs, or is lost
    _needed("lost", Boolean),  # its run was killed before it ended
    _needed("reason", Words),  # why this target: this and the following are the decision
    Column("belief", Float),
    Column("other_id", Integer, ForeignKey("targets.id")),  # the next best target
    Column("other_belief", Float),
    Column("inputs", BigInteger),  # this and the following: what came of it
    Column("seconds", Float),
    Column("discoveries", BigInteger),
    Column("new_bugs", Integer),  # new to the whole campaign
    Column("generation_id", Integer, ForeignKey("generations.id")),  # null: nothing came of it
    Column("total_inputs", BigInteger),  # of the generation, when it ended
    Column("total_seconds", Float),  # of the target, all generations
    Column("total_species", BigInteger),
    Column("total_discoveries", BigInteger),
    Column("risk", Float),
    Column("risk_low", Float),
    Column("risk_high", Float),
)
Index("epochs_of_target", epochs.c.target_id)  # with the row's number: the latest decisions
Index("epochs_by_inputs", epochs.c.generation_id, epochs.c.total_inputs)
_under_way = and_(epochs.c.ended.is_(None), epochs.c.lost.is_(False))
# To name another database here would load its whole dialect in every process of fuzzwise.
Index("epochs_under_way", epochs.c.id, sqlite_where=_under_way)

bugs = Table(
    "bugs",  # once for each target that showed it
    metadata,
    Column("id", Integer, primary_key=True),  # in the order of first sight
    _needed("target_id", Integer, ForeignKey("targets.id")),
    _needed("bug", Words),  # the stack hash
    _needed("at", Float),  # first sight: by the campaign's clock,
    _needed("after_inputs", BigInteger),  # by the target's inputs of all generations,
    _needed("after_seconds", Float),  # and by its own time
    _needed("crashes", BigInteger),
    _needed("kind", Words),
    _needed("severity", Words),
    _needed("frames", _OBJECT),  # a list, innermost first
    _needed("summary", Words),
    _needed("file", Words),
    Column("line", Integer),
    _needed("inputs", _OBJECT),  # files, relative to the campaign's folder
    _needed("report", Words),  # a file, likewise
    _needed("command", Words),  # for the shell: shows the bug
    _needed("flaky", Boolean),
    Column("checked", Boolean),  # since version 2: whether anybody has tried if it is flaky
    UniqueConstraint("target_id", "bug"),
    Index("bugs_by_hash", "bug"),
)

observations = Table(
    "observations",
    metadata,
    Column("target_id", Integer, ForeignKey("targets.id"), primary_key=True),
    _needed("content", LargeBinary),  # the latest observation (observations.py)
)

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    _needed("at", Float),
    _needed("kind", Words),
    _needed("target", Words),  # a name; "" for the campaign
    _needed("detail", Words),
)
