-- What a probe did to the cases of a run, from its event log. A case that the log does not mention has no row: nothing is
-- known of it.

CREATE TABLE event_logs (
    run         INTEGER PRIMARY KEY REFERENCES runs(id),
    path        TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    records     INTEGER NOT NULL,
    imported_at TEXT NOT NULL
) STRICT;

CREATE TABLE case_events (
    run      INTEGER NOT NULL REFERENCES runs(id),
    case_id  TEXT NOT NULL,
    happened TEXT NOT NULL,                -- JSON list of what was done, in the rubric's words
    PRIMARY KEY (run, case_id)
) STRICT, WITHOUT ROWID;
