-- Runs, cases and emissions as ingested; batches as drawn; ratings as given. Rows are added, never changed.

CREATE TABLE datasets (
    digest      TEXT PRIMARY KEY,
    path        TEXT NOT NULL,
    entries     INTEGER NOT NULL,
    imported_at TEXT NOT NULL
) STRICT;

CREATE TABLE dataset_entries (
    dataset      TEXT NOT NULL REFERENCES datasets(digest),
    category     TEXT NOT NULL,
    entry_id     TEXT NOT NULL,
    user_turns   TEXT NOT NULL,            -- JSON list: the user's words per turn
    ground_truth TEXT,                     -- JSON list of lists of calls; null where no answer file has the entry
    held_out     TEXT NOT NULL,            -- JSON list of tool names
    return_turn  INTEGER,
    PRIMARY KEY (dataset, category, entry_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    model      TEXT NOT NULL,
    condition  TEXT NOT NULL,
    benchmark  TEXT NOT NULL,
    dataset    TEXT REFERENCES datasets(digest),
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE run_files (
    id            INTEGER PRIMARY KEY,
    run           INTEGER NOT NULL REFERENCES runs(id),
    category      TEXT NOT NULL,
    kind          TEXT NOT NULL CHECK (kind IN ('result', 'score')),
    path          TEXT NOT NULL,
    sha256        TEXT NOT NULL,
    bytes         INTEGER NOT NULL,
    records       INTEGER NOT NULL,        -- result: cases; score: failure lines
    failures_only INTEGER NOT NULL,
    accuracy      REAL,
    correct       INTEGER,
    total         INTEGER,
    rules_digest  TEXT,                    -- the cue table that classified the emissions
    oddities      TEXT NOT NULL,           -- JSON object: what was odd, how often
    imported_at   TEXT NOT NULL,
    program       TEXT NOT NULL,
    UNIQUE (run, category, kind)
) STRICT;

CREATE TABLE cases (
    id              INTEGER PRIMARY KEY,
    file            INTEGER NOT NULL REFERENCES run_files(id),
    run             INTEGER NOT NULL REFERENCES runs(id),
    category        TEXT NOT NULL,
    ordinal         INTEGER NOT NULL,      -- position in the file, from 0
    line            INTEGER NOT NULL,
    case_id         TEXT NOT NULL,         -- the identity's part after the run
    raw_id          TEXT,                  -- as the file has it; null where missing
    defect          TEXT CHECK (defect IN ('duplicate_id', 'missing_id', 'unusable_id')),
    shape           TEXT NOT NULL CHECK (shape IN ('turns', 'error', 'absent', 'other')),
    error           TEXT,                  -- the text in place of a result
    turns           INTEGER NOT NULL,
    user_turns      TEXT,                  -- JSON list, from the run's own log
    log_return_turn INTEGER,               -- from the run's own log
    UNIQUE (run, case_id)
) STRICT;

CREATE TABLE emissions (
    case_row   INTEGER NOT NULL REFERENCES cases(id),
    turn       INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    raw        TEXT NOT NULL,              -- one JSON value, as the file has it
    class      TEXT,                       -- rule set `paper`; null: nothing to classify
    form       TEXT,
    cue        TEXT,
    cue_offset INTEGER,
    PRIMARY KEY (case_row, turn, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE failures (
    run           INTEGER NOT NULL REFERENCES runs(id),
    category      TEXT NOT NULL,
    raw_id        TEXT NOT NULL,
    error_type    TEXT,
    error_message TEXT,
    detail        TEXT,                    -- JSON of the grader's details
    PRIMARY KEY (run, category, raw_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE case_fits (
    case_row INTEGER PRIMARY KEY REFERENCES cases(id),
    dataset  TEXT NOT NULL REFERENCES datasets(digest),
    status   TEXT NOT NULL CHECK (status IN ('verified', 'unverifiable', 'mismatch', 'absent')),
    reason   TEXT
) STRICT;

CREATE TABLE rubrics (
    digest   TEXT PRIMARY KEY,
    name     TEXT NOT NULL,
    text     TEXT NOT NULL,
    added_at TEXT NOT NULL
) STRICT;

CREATE TABLE plans (
    digest   TEXT PRIMARY KEY,
    name     TEXT NOT NULL,
    text     TEXT NOT NULL,
    added_at TEXT NOT NULL
) STRICT;

CREATE TABLE batches (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    kind         TEXT NOT NULL CHECK (kind IN ('drawn', 'imported')),
    seed         TEXT,
    plan         TEXT REFERENCES plans(digest),
    frame_digest TEXT,
    frame_size   INTEGER,
    rubric       TEXT NOT NULL REFERENCES rubrics(digest),
    bindings     TEXT NOT NULL,            -- JSON object: role or model -> run
    excluded     TEXT NOT NULL,            -- JSON list of batch names
    command      TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    program      TEXT NOT NULL
) STRICT;

CREATE TABLE batch_strata (
    batch      INTEGER NOT NULL REFERENCES batches(id),
    ordinal    INTEGER NOT NULL,
    stratum    TEXT NOT NULL,
    title      TEXT NOT NULL,
    population INTEGER,
    excluded   INTEGER NOT NULL,
    quota      INTEGER,
    drawn      INTEGER NOT NULL,
    shortfall  INTEGER NOT NULL,
    overlap    INTEGER NOT NULL,
    PRIMARY KEY (batch, stratum)
) STRICT, WITHOUT ROWID;

CREATE TABLE batch_cases (
    batch         INTEGER NOT NULL REFERENCES batches(id),
    position      INTEGER NOT NULL,
    identity      TEXT NOT NULL,
    stratum       TEXT NOT NULL,
    model         TEXT NOT NULL,
    category      TEXT NOT NULL,
    transition    TEXT,
    verdict       TEXT,
    second_run    TEXT,
    ticket        TEXT,
    probability   REAL,
    unconditional REAL,
    unconditional_reason TEXT,
    PRIMARY KEY (batch, identity)
) STRICT, WITHOUT ROWID;

CREATE TABLE raters (
    name     TEXT PRIMARY KEY,
    kind     TEXT NOT NULL,
    model    TEXT,
    added_at TEXT NOT NULL
) STRICT;

CREATE TABLE batch_raters (
    batch   INTEGER NOT NULL REFERENCES batches(id),
    rater   TEXT NOT NULL REFERENCES raters(name),
    ordinal INTEGER NOT NULL,
    PRIMARY KEY (batch, rater)
) STRICT, WITHOUT ROWID;

CREATE TABLE batch_pairs (
    id      INTEGER PRIMARY KEY,
    batch   INTEGER NOT NULL REFERENCES batches(id),
    rater_a TEXT NOT NULL REFERENCES raters(name),
    rater_b TEXT NOT NULL REFERENCES raters(name),
    at      TEXT NOT NULL
) STRICT;

CREATE TABLE batch_joins (
    batch INTEGER NOT NULL REFERENCES batches(id),
    model TEXT NOT NULL,
    run   TEXT NOT NULL,
    PRIMARY KEY (batch, model)
) STRICT, WITHOUT ROWID;

-- Ratings, rulings on disagreements and spot checks: one hash chain in the order of `id`.
CREATE TABLE ratings (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    batch         INTEGER NOT NULL REFERENCES batches(id),
    act           TEXT NOT NULL CHECK (act IN ('rating', 'ruling', 'spot_check')),
    identity      TEXT NOT NULL,
    label         TEXT NOT NULL,
    rater         TEXT NOT NULL REFERENCES raters(name),
    value         TEXT NOT NULL,
    correct       INTEGER,
    rationale     TEXT NOT NULL,
    rubric_digest TEXT NOT NULL REFERENCES rubrics(digest),
    case_digest   TEXT,
    source        TEXT NOT NULL,
    rated_at      TEXT NOT NULL,
    previous      TEXT NOT NULL,
    link          TEXT NOT NULL UNIQUE,
    FOREIGN KEY (batch, identity) REFERENCES batch_cases(batch, identity)
) STRICT;
CREATE INDEX ratings_by_batch ON ratings (batch, identity, label, rater);

CREATE TRIGGER ratings_keep BEFORE UPDATE ON ratings
BEGIN SELECT RAISE(ABORT, 'ratings are append-only'); END;
CREATE TRIGGER ratings_stay BEFORE DELETE ON ratings
BEGIN SELECT RAISE(ABORT, 'ratings are append-only'); END;

-- What a plan's `where` can see: one row a case. Read-only and documented in docs/plans.md; columns are only added.
CREATE VIEW frame AS
SELECT
    runs.name || '/' || cases.case_id AS identity,
    runs.name      AS run,
    runs.model     AS model,
    runs.condition AS condition,
    cases.category AS category,
    cases.case_id  AS case_id,
    CASE WHEN score.id IS NULL OR cases.defect IS NOT NULL THEN NULL
         WHEN failures.raw_id IS NULL THEN 'PASS' ELSE 'FAIL' END AS verdict,
    failures.error_type AS error_type,
    cases.shape    AS shape,
    cases.turns    AS turns,
    cases.defect   AS defect,
    (SELECT count(*) FROM emissions WHERE case_row = cases.id) AS emissions,
    EXISTS (SELECT 1 FROM emissions WHERE case_row = cases.id AND class = 'tool_call') AS has_tool_call,
    EXISTS (SELECT 1 FROM emissions WHERE case_row = cases.id AND class = 'refuse')    AS has_refuse,
    EXISTS (SELECT 1 FROM emissions WHERE case_row = cases.id AND class = 'ask')       AS has_ask,
    EXISTS (SELECT 1 FROM emissions WHERE case_row = cases.id AND class = 'confirm')   AS has_confirm
FROM cases
JOIN runs ON runs.id = cases.run
LEFT JOIN run_files AS score
    ON score.run = cases.run AND score.category = cases.category AND score.kind = 'score'
LEFT JOIN failures
    ON failures.run = cases.run AND failures.category = cases.category AND failures.raw_id = cases.raw_id;
