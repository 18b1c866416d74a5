-- What language models were asked and what they answered. A verdict of pass 1 is a row of `ratings` too, in the chain; the
-- rating's source holds the digest of the raw reply. Rows are added, never changed.

CREATE TABLE judge_replies (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    batch             INTEGER NOT NULL REFERENCES batches(id),
    identity          TEXT NOT NULL,
    rater             TEXT NOT NULL REFERENCES raters(name),
    pass              INTEGER NOT NULL CHECK (pass >= 1),
    asking            INTEGER NOT NULL CHECK (asking IN (1, 2)), -- 2: asked again with what was wrong
    outcome           TEXT NOT NULL CHECK (outcome IN ('verdict', 'again', 'no_verdict')),
    reason            TEXT,                -- why it is no whole verdict
    detail            TEXT,                -- the same in sentences
    model             TEXT NOT NULL,       -- as asked for
    reported_model    TEXT,                -- as the server says
    endpoint          TEXT,                -- without key and query; null for a batch file
    parameters        TEXT NOT NULL,       -- JSON object
    structured        INTEGER NOT NULL,    -- was a JSON schema sent?
    prompt_digest     TEXT NOT NULL,
    case_digest       TEXT NOT NULL,
    rubric_digest     TEXT NOT NULL REFERENCES rubrics(digest),
    finish_reason     TEXT,
    prompt_tokens     INTEGER,
    completion_tokens INTEGER,
    milliseconds      INTEGER,             -- of the request that was answered
    requests          INTEGER NOT NULL,    -- until it was answered
    flags             TEXT NOT NULL,       -- JSON list: texts of the case that address the rater
    raw               TEXT NOT NULL,       -- the body as received, without the key
    source            TEXT NOT NULL,
    replied_at        TEXT NOT NULL,
    UNIQUE (batch, identity, rater, pass, asking),
    FOREIGN KEY (batch, identity) REFERENCES batch_cases(batch, identity)
) STRICT;

CREATE TABLE judge_answers (
    reply     INTEGER NOT NULL REFERENCES judge_replies(id),
    label     TEXT NOT NULL,
    value     TEXT,                        -- null: no verdict
    rationale TEXT NOT NULL,
    reason    TEXT,                        -- of a null value
    PRIMARY KEY (reply, label)
) STRICT, WITHOUT ROWID;

-- Requests that were written to a batch file, to know an answer by its id alone.
CREATE TABLE judge_requests (
    custom_id     TEXT PRIMARY KEY,
    batch         INTEGER NOT NULL REFERENCES batches(id),
    identity      TEXT NOT NULL,
    rater         TEXT NOT NULL REFERENCES raters(name),
    pass          INTEGER NOT NULL,
    asking        INTEGER NOT NULL,
    model         TEXT NOT NULL,
    parameters    TEXT NOT NULL,
    structured    INTEGER NOT NULL,
    prompt_digest TEXT NOT NULL,
    case_digest   TEXT NOT NULL,
    written_at    TEXT NOT NULL,
    FOREIGN KEY (batch, identity) REFERENCES batch_cases(batch, identity)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER judge_replies_keep BEFORE UPDATE ON judge_replies
BEGIN SELECT RAISE(ABORT, 'replies of models are append-only'); END;
CREATE TRIGGER judge_replies_stay BEFORE DELETE ON judge_replies
BEGIN SELECT RAISE(ABORT, 'replies of models are append-only'); END;
CREATE TRIGGER judge_answers_keep BEFORE UPDATE ON judge_answers
BEGIN SELECT RAISE(ABORT, 'answers of models are append-only'); END;
CREATE TRIGGER judge_answers_stay BEFORE DELETE ON judge_answers
BEGIN SELECT RAISE(ABORT, 'answers of models are append-only'); END;
