#!/usr/bin/env python3
"""Do other engines draw the same cases as the tool?

Makes a synthetic run (ids with accents, Japanese, quotes, backslashes, a character outside the basic plane), ingests it,
lets the tool draw it, exports the frame, prints `draw --sql` for each engine, runs the statements there and compares ids,
strata, tickets and places. Called by `scripts/prove engines`.
"""

import argparse
import csv
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CATEGORIES = ["base", "long_context", "miss_func", "miss_param"]
ODD = ["é", "日本語", "it's", "a b", "𝔘", "back\\slash", "x';--", 'q"q', "ＡＢ", "%_"]
SEEDS = ["audit-1", "läufe 日本", "it's \\ a '; DROP TABLE frame; --"]
PLAN = """\
id = "engines"
title = "Synthetic cells"
[roles]
run = "the synthetic run"
[[cells]]
id = "o'c"
title = "Cell"
run = "run"
by = ["category", "verdict"]
quota = 40
"""


def make_run(folder: Path, cases: int) -> None:
    results, scores = folder / "results", folder / "scores"
    results.mkdir(), scores.mkdir()
    per = cases // len(CATEGORIES)
    for category in CATEGORIES:
        name = f"BFCL_v3_multi_turn_{category}"
        fails = 0
        with open(results / f"{name}_result.json", "w", encoding="utf-8") as out:
            for index in range(per):
                case = f"multi_turn_{category}_{ODD[index % len(ODD)]}_{index}"
                out.write(json.dumps({"id": case, "result": [["ok"]]}, ensure_ascii=index % 3 == 0) + "\n")
                fails += index % 7 >= 3
        with open(scores / f"{name}_score.json", "w", encoding="utf-8") as out:
            out.write(json.dumps({"accuracy": (per - fails) / per, "correct_count": per - fails, "total_count": per}) + "\n")
            for index in range(per):
                if index % 7 >= 3:
                    case = f"multi_turn_{category}_{ODD[index % len(ODD)]}_{index}"
                    out.write(json.dumps({"id": case, "valid": False, "error": {"error_type": "t"}}) + "\n")


class Tool:
    def __init__(self, binary: str, folder: Path):
        self.binary, self.folder = binary, folder

    def __call__(self, *arguments: str) -> str:
        command = [self.binary, "--db", str(self.folder / "audits.db"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            sys.exit(f"engines: {' '.join(command)}\n{done.stderr}")
        return done.stdout


def sqlite_rows(frame: Path):
    db = sqlite3.connect(":memory:")
    db.create_function("sha256_hex", 1, lambda text: hashlib.sha256(text.encode()).hexdigest(), deterministic=True)
    db.execute("CREATE TABLE frame (item_id TEXT NOT NULL, stratum TEXT NOT NULL)")
    with open(frame, encoding="utf-8", newline="") as rows:
        reader = csv.DictReader(rows)
        db.executemany("INSERT INTO frame VALUES (?, ?)", ((row["item_id"], row["stratum"]) for row in reader))
    return lambda sql: db.execute(sql).fetchall()


def duckdb_rows():
    import duckdb

    db = duckdb.connect()
    return lambda sql: db.execute(sql).fetchall()


class Postgres:
    """A throw-away server on a private socket, started as a user that is not root."""

    def __init__(self, folder: Path):
        self.bin = self.find()
        self.folder = folder / "postgres"
        self.folder.mkdir()
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
            for parent in [folder, *folder.parents]:
                if parent == Path("/"):
                    break
                if not os.stat(parent).st_mode & 0o001:
                    os.chmod(parent, os.stat(parent).st_mode | 0o011)
        self.run("initdb", "-D", str(self.folder / "data"), "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust", "-U", "prover")
        settings = f"-k {self.folder} -c listen_addresses='' -c fsync=off -p 54987"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-o", settings, "-l", log, "-w", "start")

    @staticmethod
    def find() -> Path:
        for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True):
            return path.parent
        found = shutil.which("initdb")
        if not found:
            sys.exit("engines: PostgreSQL is not here; apt-get install postgresql (or --engines sqlite,duckdb)")
        return Path(found).parent

    def run(self, program: str, *arguments: str, stdin=None) -> str:
        command = [str(self.bin / program), *arguments]
        if self.user:
            command = ["runuser", "-u", self.user, "--", *command]
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            sys.exit(f"engines: {program}: {done.stderr}")
        return done.stdout

    def psql(self, *arguments: str, stdin=None) -> str:
        connection = ["-h", str(self.folder), "-p", "54987", "-U", "prover", "-d", "postgres"]
        return self.run("psql", *connection, "-X", "-q", "-v", "ON_ERROR_STOP=1", *arguments, stdin=stdin)

    def load(self, frame: Path) -> None:
        with open(frame, encoding="utf-8", newline="") as rows, tempfile.TemporaryFile("w+", encoding="utf-8") as two:
            writer = csv.writer(two)
            for row in csv.DictReader(rows):
                writer.writerow([row["item_id"], row["stratum"]])
            two.seek(0)
            self.psql("-c", "CREATE TABLE frame (item_id text NOT NULL, stratum text NOT NULL)")
            self.psql("-c", "COPY frame FROM STDIN (FORMAT csv)", stdin=two)

    def rows(self, sql: str):
        text = self.psql("--csv", "-t", "-c", sql)
        return [(item, stratum, ticket, int(rk)) for item, stratum, ticket, rk in csv.reader(text.splitlines())]

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--engines", default="sqlite,duckdb,postgres")
    parser.add_argument("--out", help="write the measured table as Markdown")
    args = parser.parse_args()
    wanted = args.engines.split(",")

    folder = Path(tempfile.mkdtemp(prefix="dualrater-engines-"))
    server = None
    try:
        make_run(folder, args.cases)
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        tool = Tool(str(Path(args.binary).resolve()), folder)
        files = ["--results", str(folder / "results"), "--scores", str(folder / "scores")]
        tool("ingest", "bfcl", "--run", "läufe", "--model", "m", *files)
        bind = ["--bind", "run=läufe"]
        frame, parquet = folder / "frame.csv", folder / "frame.parquet"
        tool("export", "frame", "plan.toml", *bind, "--out", str(frame))
        tool("export", "frame", "plan.toml", *bind, "--format", "parquet", "--out", str(parquet))
        tool("draw", "plan.toml", *bind, "--batch", "first", "--seed", SEEDS[0])

        engines = {}
        if "sqlite" in wanted:
            engines["sqlite"] = (sqlite_rows(frame), [])
        if "duckdb" in wanted:
            engines["duckdb"] = (duckdb_rows(), ["--parquet", str(parquet)])
        if "postgres" in wanted:
            server = Postgres(folder)
            server.load(frame)
            engines["postgres"] = (server.rows, [])

        table = []
        for engine, (rows, source) in engines.items():
            compared, seconds = 0, {False: [], True: []}
            for seed in SEEDS:
                for exclude in [[], ["--exclude", "first"]]:
                    draw = ["draw", "plan.toml", *bind, "--seed", seed, *exclude]
                    ours = json.loads(tool(*draw, "--dry-run", "--json"))
                    expected = sorted((c["case"], c["stratum"], c["ticket"], c["position"]) for c in ours["cases"])
                    assert len(expected) == 8 * 40, len(expected)
                    for prefilter in [False, True]:
                        sql = tool(*draw, "--sql", engine, *source, *(["--prefilter"] if prefilter else []))
                        start = time.monotonic()
                        found = sorted(tuple(row) for row in rows(sql))
                        seconds[prefilter].append(time.monotonic() - start)
                        if found != expected:
                            lost = len(set(expected) - set(found))
                            sys.exit(f"engines: {engine} draws another sample (seed {seed!r}, {lost} of {len(expected)} lost)")
                        compared += len(found)
            plain, filtered = min(seconds[False]), min(seconds[True])
            table.append((engine, compared, plain, filtered))
            print(f"engines: {engine}: {compared} of {compared} drawn rows identical; {plain:.2f} s, {filtered:.2f} s with the pre-filter")
        if args.out:
            write(Path(args.out), args.cases, table)
    finally:
        if server:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def write(path: Path, cases: int, table) -> None:
    lines = [
        "| engine | rows compared | identical | seconds, plain | seconds, pre-filter |",
        "|---|---:|---:|---:|---:|",
        *(f"| {name} | {rows} | {rows} | {plain:.2f} | {fast:.2f} |" for name, rows, plain, fast in table),
    ]
    path.write_text(f"{cases} cases, {len(SEEDS)} seeds, with and without an excluded batch.\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
