-- τ²-bench: runs with their tasks, simulations, messages and database writes; finished judgments of writes; the dialogue
-- of logged chats. All of it can be drawn: the view `frame` has the new units, and a few columns more.

CREATE TABLE tau2_runs (
    run            INTEGER PRIMARY KEY REFERENCES runs(id),
    path           TEXT NOT NULL,
    sha256         TEXT NOT NULL,
    bytes          INTEGER NOT NULL,
    domain         TEXT NOT NULL,
    layout         TEXT NOT NULL CHECK (layout IN ('file', 'directory')),
    generation     TEXT NOT NULL,
    tasks_from     TEXT NOT NULL,
    tasks_sha256   TEXT,                   -- of the task file that stood in
    tasks_embedded INTEGER NOT NULL,
    header         TEXT NOT NULL,          -- JSON object: the parts of the header that are kept (no arguments of models)
    policy         TEXT,                   -- the policy that the agent was given
    rules_digest   TEXT NOT NULL,          -- the cue table behind the labels
    oddities       TEXT NOT NULL,          -- JSON object: what was odd, how often
    imported_at    TEXT NOT NULL,
    program        TEXT NOT NULL
) STRICT;

CREATE TABLE tau2_tasks (
    run     INTEGER NOT NULL REFERENCES tau2_runs(run),
    ordinal INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    case_id TEXT NOT NULL,
    refuse  INTEGER NOT NULL,              -- no reference action
    ask     INTEGER NOT NULL,              -- an ASK candidate by the keyword rule
    writes  INTEGER NOT NULL,              -- the reference path writes
    task    TEXT NOT NULL,                 -- JSON of what is read of it
    PRIMARY KEY (run, ordinal),
    UNIQUE (run, case_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tau2_simulations (
    run         INTEGER NOT NULL REFERENCES tau2_runs(run),
    ordinal     INTEGER NOT NULL,
    case_id     TEXT NOT NULL,
    defect      TEXT CHECK (defect IN ('duplicate_id')),
    category    TEXT NOT NULL,
    task        INTEGER,                   -- ordinal of its task, as stated or as its content proves
    task_id     TEXT,
    trial       INTEGER,
    termination TEXT,
    verdict     TEXT CHECK (verdict IN ('PASS', 'FAIL')),
    gar_hit     INTEGER NOT NULL,
    early       INTEGER NOT NULL,
    messages    INTEGER NOT NULL,
    writes      INTEGER NOT NULL,
    facts       TEXT NOT NULL,             -- JSON of what is counted
    PRIMARY KEY (run, ordinal),
    UNIQUE (run, case_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tau2_messages (
    run        INTEGER NOT NULL,
    simulation INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    role       TEXT NOT NULL,
    content    TEXT,
    calls      TEXT,                       -- JSON list of {id, name, arguments}
    failed     INTEGER NOT NULL,           -- a result that says that its call failed
    labels     INTEGER NOT NULL,           -- bits: 1 call, 2 ask, 4 refuse, 8 confirm, 16 call in text form, 32 ask (strict)
    PRIMARY KEY (run, simulation, position),
    FOREIGN KEY (run, simulation) REFERENCES tau2_simulations(run, ordinal) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE tau2_writes (
    run        INTEGER NOT NULL,
    simulation INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,           -- in the simulation, from 1
    case_id    TEXT NOT NULL,
    message    INTEGER NOT NULL,
    call       INTEGER NOT NULL,
    tool       TEXT NOT NULL,
    failed     INTEGER NOT NULL,
    passed     TEXT CHECK (passed IN ('PASS', 'FAIL')),   -- reward of at least 0.5; null: no reward
    PRIMARY KEY (run, simulation, ordinal),
    UNIQUE (run, case_id),
    FOREIGN KEY (run, simulation) REFERENCES tau2_simulations(run, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdict_sets (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    path        TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    records     INTEGER NOT NULL,
    imported_at TEXT NOT NULL
) STRICT;

CREATE TABLE verdicts (
    verdict_set INTEGER NOT NULL REFERENCES verdict_sets(id),
    ordinal     INTEGER NOT NULL,
    model       TEXT NOT NULL,
    domain      TEXT NOT NULL,
    simulation  TEXT NOT NULL,
    tool        TEXT NOT NULL,
    confirmed   INTEGER,                   -- null: no verdict
    passed      INTEGER,                   -- null: no reward
    PRIMARY KEY (verdict_set, ordinal)
) STRICT, WITHOUT ROWID;

-- What a logged chat says beside its emissions: every message, and the user's own category.
CREATE TABLE chat_cases (
    case_row INTEGER PRIMARY KEY REFERENCES cases(id),
    category TEXT,                         -- as the log has it
    verdict  TEXT CHECK (verdict IN ('PASS', 'FAIL'))
) STRICT;

CREATE TABLE chat_messages (
    case_row INTEGER NOT NULL REFERENCES cases(id),
    position INTEGER NOT NULL,
    role     TEXT NOT NULL,
    content  TEXT,
    calls    TEXT,
    failed   INTEGER NOT NULL,
    PRIMARY KEY (case_row, position)
) STRICT, WITHOUT ROWID;

DROP VIEW frame;
CREATE VIEW frame AS
SELECT
    runs.name || '/' || cases.case_id AS identity,
    runs.name      AS run,
    runs.model     AS model,
    runs.condition AS condition,
    cases.category AS category,
    cases.case_id  AS case_id,
    CASE WHEN cases.defect IS NOT NULL THEN NULL
         WHEN score.id IS NULL THEN (SELECT chat_cases.verdict FROM chat_cases WHERE case_row = cases.id)
         WHEN failures.raw_id IS NULL THEN 'PASS' ELSE 'FAIL' END AS verdict,
    failures.error_type AS error_type,
    cases.shape    AS shape,
    cases.turns    AS turns,
    cases.defect   AS defect,
    (SELECT count(*) FROM emissions WHERE case_row = cases.id) AS emissions,
    EXISTS (SELECT 1 FROM emissions WHERE case_row = cases.id AND class = 'tool_call') AS has_tool_call,
    EXISTS (SELECT 1 FROM emissions WHERE case_row = cases.id AND class = 'refuse')    AS has_refuse,
    EXISTS (SELECT 1 FROM emissions WHERE case_row = cases.id AND class = 'ask')       AS has_ask,
    EXISTS (SELECT 1 FROM emissions WHERE case_row = cases.id AND class = 'confirm')   AS has_confirm,
    (SELECT chat_cases.category FROM chat_cases WHERE case_row = cases.id) AS domain,
    NULL           AS task,
    NULL           AS trial,
    NULL           AS termination,
    NULL           AS tool,
    NULL           AS write_failed,
    NULL           AS writes,
    NULL           AS reference_write,
    NULL           AS ask_task
FROM cases
JOIN runs ON runs.id = cases.run
LEFT JOIN run_files AS score
    ON score.run = cases.run AND score.category = cases.category AND score.kind = 'score'
LEFT JOIN failures
    ON failures.run = cases.run AND failures.category = cases.category AND failures.raw_id = cases.raw_id
UNION ALL
SELECT
    runs.name || '/' || s.case_id, runs.name, runs.model, runs.condition, s.category, s.case_id, s.verdict, NULL,
    'simulation', s.messages, s.defect,
    (SELECT count(*) FROM tau2_messages AS m WHERE m.run = s.run AND m.simulation = s.ordinal AND m.role = 'assistant'),
    EXISTS (SELECT 1 FROM tau2_messages AS m WHERE m.run = s.run AND m.simulation = s.ordinal AND m.labels & 1),
    EXISTS (SELECT 1 FROM tau2_messages AS m WHERE m.run = s.run AND m.simulation = s.ordinal AND m.labels & 4),
    EXISTS (SELECT 1 FROM tau2_messages AS m WHERE m.run = s.run AND m.simulation = s.ordinal AND m.labels & 2),
    EXISTS (SELECT 1 FROM tau2_messages AS m WHERE m.run = s.run AND m.simulation = s.ordinal AND m.labels & 8),
    t.domain, s.task_id, s.trial, s.termination, NULL, NULL, s.writes, task.writes, task.ask
FROM tau2_simulations AS s
JOIN tau2_runs AS t ON t.run = s.run
JOIN runs ON runs.id = s.run
LEFT JOIN tau2_tasks AS task ON task.run = s.run AND task.ordinal = s.task
UNION ALL
SELECT
    runs.name || '/' || w.case_id, runs.name, runs.model, runs.condition, 'tau2_write', w.case_id, w.passed, NULL,
    'write', w.message, s.defect, NULL, NULL, NULL, NULL, NULL,
    t.domain, s.task_id, s.trial, s.termination, w.tool, w.failed, s.writes, task.writes, task.ask
FROM tau2_writes AS w
JOIN tau2_simulations AS s ON s.run = w.run AND s.ordinal = w.simulation
JOIN tau2_runs AS t ON t.run = w.run
JOIN runs ON runs.id = w.run
LEFT JOIN tau2_tasks AS task ON task.run = s.run AND task.ordinal = s.task
UNION ALL
SELECT
    runs.name || '/' || task.case_id, runs.name, runs.model, runs.condition, 'tau2_task', task.case_id, NULL, NULL,
    'task', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    t.domain, task.task_id, NULL, NULL, NULL, NULL, NULL, task.writes, task.ask
FROM tau2_tasks AS task
JOIN tau2_runs AS t ON t.run = task.run
JOIN runs ON runs.id = task.run;
