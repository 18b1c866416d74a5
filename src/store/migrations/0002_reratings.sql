-- The same cases again under another rubric: which batch a batch re-rates. Its ratings are its own; nothing is shared but
-- the cases.

CREATE TABLE batch_reratings (
    batch    INTEGER PRIMARY KEY REFERENCES batches(id),
    original INTEGER NOT NULL REFERENCES batches(id),
    made_at  TEXT NOT NULL
) STRICT;
