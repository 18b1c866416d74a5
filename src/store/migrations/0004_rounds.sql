-- Rounds of a batch: the draw that made it, every draw that enlarged it, every replacement of a case that cannot be rated,
-- with the number of ratings known at that moment. What a batch is now follows from its last round; no row is changed.

CREATE TABLE batch_rounds (
    batch             INTEGER NOT NULL REFERENCES batches(id),
    round             INTEGER NOT NULL,      -- from 1
    kind              TEXT NOT NULL CHECK (kind IN ('draw', 'extension', 'replacement')),
    seed              TEXT,
    adversarial       INTEGER NOT NULL,      -- 1: every round takes a seed of its own
    assignment        TEXT,                  -- digest of what decided ownership; null where an earlier program drew
    allocation        TEXT NOT NULL,         -- JSON: how the sample was shared out
    added             INTEGER NOT NULL,      -- cases that came in
    ratings_known     INTEGER NOT NULL,      -- answers of people and models to the batch's cases
    ratings_elsewhere INTEGER,               -- such answers to cases of the same frame in other batches; null: not noted
    chain_head        TEXT,                  -- last link of the ratings at that moment; null: not noted
    command           TEXT NOT NULL,
    made_at           TEXT NOT NULL,
    program           TEXT NOT NULL,
    PRIMARY KEY (batch, round)
) STRICT, WITHOUT ROWID;

INSERT INTO batch_rounds
SELECT id, 1, 'draw', seed, 0, NULL, '{}', (SELECT count(*) FROM batch_cases WHERE batch = batches.id), 0, NULL, NULL,
       command, created_at, program
FROM batches WHERE kind = 'drawn' AND id NOT IN (SELECT batch FROM batch_reratings);

-- The strata as a later round left them; the first round's are in batch_strata and batch_cases.
CREATE TABLE round_strata (
    batch                INTEGER NOT NULL,
    round                INTEGER NOT NULL,
    stratum              TEXT NOT NULL,
    quota                INTEGER NOT NULL,
    replacements         INTEGER NOT NULL,   -- cases beyond the quota, in place of unusable ones
    drawn                INTEGER NOT NULL,
    shortfall            INTEGER NOT NULL,
    probability          REAL,
    unconditional        REAL,
    unconditional_reason TEXT,
    PRIMARY KEY (batch, round, stratum),
    FOREIGN KEY (batch, round) REFERENCES batch_rounds(batch, round)
) STRICT, WITHOUT ROWID;

-- Cases that came in after the first round.
CREATE TABLE round_cases (
    batch    INTEGER NOT NULL,
    identity TEXT NOT NULL,
    round    INTEGER NOT NULL,
    replaces TEXT,                           -- the unusable case in whose place it was drawn
    PRIMARY KEY (batch, identity),
    UNIQUE (batch, replaces),
    FOREIGN KEY (batch, identity) REFERENCES batch_cases(batch, identity),
    FOREIGN KEY (batch, round) REFERENCES batch_rounds(batch, round)
) STRICT, WITHOUT ROWID;

-- Cases that nobody can rate, declared before anybody did.
CREATE TABLE unusable_cases (
    batch       INTEGER NOT NULL,
    identity    TEXT NOT NULL,
    reason      TEXT NOT NULL,
    command     TEXT NOT NULL,
    declared_at TEXT NOT NULL,
    PRIMARY KEY (batch, identity),
    FOREIGN KEY (batch, identity) REFERENCES batch_cases(batch, identity)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER rounds_keep BEFORE UPDATE ON batch_rounds
BEGIN SELECT RAISE(ABORT, 'rounds are append-only'); END;
CREATE TRIGGER rounds_stay BEFORE DELETE ON batch_rounds
BEGIN SELECT RAISE(ABORT, 'rounds are append-only'); END;
CREATE TRIGGER unusable_keep BEFORE UPDATE ON unusable_cases
BEGIN SELECT RAISE(ABORT, 'declarations of nonresponse are append-only'); END;
CREATE TRIGGER unusable_stay BEFORE DELETE ON unusable_cases
BEGIN SELECT RAISE(ABORT, 'declarations of nonresponse are append-only'); END;
