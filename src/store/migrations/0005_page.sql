-- Raters at a page: who may come in, what is not a rating yet, and how long a case took.

-- Links with a secret. Only the secret's SHA-256 is kept.
CREATE TABLE access_links (
    id         INTEGER PRIMARY KEY,
    batch      INTEGER NOT NULL REFERENCES batches(id),
    role       TEXT NOT NULL CHECK (role IN ('rater', 'adjudicator', 'owner')),
    rater      TEXT REFERENCES raters(name),   -- null for the owner
    digest     TEXT NOT NULL UNIQUE,
    made_at    TEXT NOT NULL,
    revoked_at TEXT,
    CHECK ((role = 'owner') = (rater IS NULL))
) STRICT;

-- What a rater typed and did not commit, or what was refused. Changed and removed freely: a draft is no rating.
CREATE TABLE drafts (
    batch     INTEGER NOT NULL,
    rater     TEXT NOT NULL REFERENCES raters(name),
    identity  TEXT NOT NULL,
    label     TEXT NOT NULL,
    value     TEXT NOT NULL,
    rationale TEXT NOT NULL,
    saved_at  TEXT NOT NULL,
    PRIMARY KEY (batch, rater, identity, label),
    FOREIGN KEY (batch, identity) REFERENCES batch_cases(batch, identity)
) STRICT, WITHOUT ROWID;

-- A rater's marks on a case, the latest of a kind counts: to look at again, or known before.
CREATE TABLE case_marks (
    id       INTEGER PRIMARY KEY,
    batch    INTEGER NOT NULL,
    rater    TEXT NOT NULL REFERENCES raters(name),
    identity TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('flag', 'known')),
    is_set   INTEGER NOT NULL CHECK (is_set IN (0, 1)),
    note     TEXT NOT NULL,
    at       TEXT NOT NULL,
    FOREIGN KEY (batch, identity) REFERENCES batch_cases(batch, identity)
) STRICT;
CREATE INDEX case_marks_by_rater ON case_marks (batch, rater, identity, kind);

-- Seconds that a case was before a rater's eyes, per visit; a visit only grows, so a report that is sent twice counts once.
CREATE TABLE case_visits (
    batch    INTEGER NOT NULL,
    rater    TEXT NOT NULL REFERENCES raters(name),
    identity TEXT NOT NULL,
    visit    TEXT NOT NULL,
    seconds  INTEGER NOT NULL CHECK (seconds >= 0),
    at       TEXT NOT NULL,
    PRIMARY KEY (batch, rater, identity, visit),
    FOREIGN KEY (batch, identity) REFERENCES batch_cases(batch, identity)
) STRICT, WITHOUT ROWID;
