#!/usr/bin/env python3
"""The work of benches/draw.rs in other programs, timed: the 40 lowest tickets of each of 32 strata.

    python3 -m venv .venv && .venv/bin/pip install pandas duckdb
    .venv/bin/python benches/peers/draw.py [CASES]

Prints one line per program: milliseconds, the fastest of three runs. The frame (item_id, stratum) is in memory in each of them;
hashing is part of the work. SQLite calls Python's hashlib, since it has no SHA-256 of its own.
"""

import hashlib
import heapq
import sqlite3
import sys
import time

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
SEED = "audit-1"
CATEGORIES = ["base", "long_context", "miss_func", "miss_param"]


def frame():
    for index in range(CASES):
        run, category = f"run-{index * 4 // CASES}", CATEGORIES[index % 4]
        verdict = "PASS" if index % 7 < 3 else "FAIL"
        yield f"{run}/multi_turn_{category}_{index:07}", f"{run} {category} {verdict}"


ROWS = list(frame())


def ticket(item):
    return hashlib.sha256(f"{SEED}:{item}".encode()).hexdigest()


def with_heaps():
    strata = {}
    for item, stratum in ROWS:
        strata.setdefault(stratum, []).append((ticket(item), item))
    return {(item, stratum) for stratum, rows in strata.items() for _, item in heapq.nsmallest(40, rows)}


def with_pandas():
    import pandas

    table = pandas.DataFrame(ROWS, columns=["item_id", "stratum"])

    def run():
        drawn = table.assign(ticket=table["item_id"].map(ticket)).sort_values(["ticket", "item_id"])
        drawn = drawn.groupby("stratum").head(40)
        return set(zip(drawn["item_id"], drawn["stratum"]))

    return run


SQL = """WITH k AS (SELECT item_id, stratum, {ticket} AS h FROM frame)
SELECT item_id, stratum FROM (
  SELECT item_id, stratum, row_number() OVER (PARTITION BY stratum ORDER BY h, item_id) AS rk FROM k) t
WHERE rk <= 40"""


def with_sqlite():
    db = sqlite3.connect(":memory:")
    db.create_function("sha256_hex", 1, lambda text: hashlib.sha256(text.encode()).hexdigest(), deterministic=True)
    db.execute("CREATE TABLE frame (item_id TEXT NOT NULL, stratum TEXT NOT NULL)")
    db.executemany("INSERT INTO frame VALUES (?, ?)", ROWS)
    sql = SQL.format(ticket=f"sha256_hex('{SEED}:' || item_id)")
    return lambda: set(db.execute(sql).fetchall())


def with_duckdb():
    import duckdb
    import pandas

    table = pandas.DataFrame(ROWS, columns=["item_id", "stratum"])
    db = duckdb.connect()
    db.execute("CREATE TABLE frame AS SELECT * FROM table")
    sql = SQL.format(ticket=f"sha256('{SEED}:' || item_id)")
    return lambda: set(db.execute(sql).fetchall())


def timed(name, run):
    best, drawn = None, None
    for _ in range(3):
        start = time.perf_counter()
        drawn = run()
        took = time.perf_counter() - start
        best = took if best is None else min(best, took)
    print(f"{name:32} {best * 1000:8.0f} ms   {len(drawn)} drawn")
    return drawn


def main():
    drawn = timed("Python, hashlib and heapq", with_heaps)
    for name, make in [("pandas", with_pandas), ("SQLite, ORDER BY in a window", with_sqlite), ("DuckDB", with_duckdb)]:
        try:
            run = make()
        except ImportError as error:
            print(f"{name:32} not installed ({error})")
            continue
        assert timed(name, run) == drawn, name


if __name__ == "__main__":
    main()
