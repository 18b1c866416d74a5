#!/usr/bin/env python3
"""How fast `dualrater judge` asks: cases against a scripted server on loopback that takes 50 ms a reply.

    cargo build --release && python3 benches/judge.py target/release/dualrater

For every number of cases: wall time of the asking (as the program reports it) beside the ideal, ceil(cases / concurrency) times
the delay, and the peak memory of the process. The run files are made here; nothing leaves the machine.
"""

import argparse
import asyncio
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def answer(schema):
    """A valid answer: the gold action everywhere, nothing else."""
    labels = {}
    for label, form in schema["properties"]["labels"]["properties"].items():
        allowed = form["properties"]["value"].get("enum", ["n.a."])
        wanted = "1" if label in ("B1a", "B1b") else "0"
        labels[label] = {"value": wanted if wanted in allowed else allowed[0], "rationale": f"Scripted answer to {label}."}
    return json.dumps({"labels": labels})


async def serve(delay, ready):
    loop = asyncio.get_running_loop()
    known = {}

    async def connection(reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                due = loop.time() + delay
                length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                body = await reader.readexactly(length)
                # The schema is the last field: read once per text, so that the server's own work stays out of the figure.
                schema = body[body.rindex(b'"response_format"'):]
                if schema not in known:
                    form = json.loads(body)["response_format"]["json_schema"]["schema"]
                    reply = {
                        "model": "scripted",
                        "choices": [{"message": {"role": "assistant", "content": answer(form)}, "finish_reason": "stop"}],
                        "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
                    }
                    text = json.dumps(reply).encode()
                    known[schema] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(text), text)
                await asyncio.sleep(max(0.0, due - loop.time()))
                writer.write(known[schema])
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, limit=1 << 22)
    ready.put(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def start(delay, ready):
    asyncio.run(serve(delay, ready))


def project(program, folder, cases):
    """A batch of so many cases with some text in each."""
    run = folder / "run"
    (run / "result").mkdir(parents=True)
    (run / "score").mkdir()
    with open(run / "result" / "BFCL_v4_multi_turn_base_result.json", "w") as out:
        for number in range(cases):
            turns = [
                [[{"move_file": json.dumps({"source": f"report_{number}_{turn}.txt", "target": "archive"})}],
                 f"I moved report {number} of step {turn} to the archive. " + "It is kept there with the others. " * 20]
                for turn in range(4)
            ]
            out.write(json.dumps({"id": f"multi_turn_base_{number}", "result": turns}) + "\n")
    with open(run / "score" / "BFCL_v4_multi_turn_base_score.json", "w") as out:
        out.write(json.dumps({"accuracy": 1.0, "correct_count": cases, "total_count": cases}) + "\n")
    plan = folder / "plan.toml"
    plan.write_text(
        'id = "bench"\ntitle = "Bench"\nseed = "1"\n[roles]\nrun = "the run"\n[runs]\nrun = "bench"\n'
        f'[[stratum]]\nid = "A"\ntitle = "all"\nquota = {cases}\nfilter = {{ run = "run", category = "base" }}\n'
    )
    for arguments in (
        ["ingest", "bfcl", "--run", "bench", "--model", "made", "--results", str(run / "result"), "--scores", str(run / "score")],
        ["draw", str(plan), "--batch", "b"],
    ):
        subprocess.run([program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", type=lambda text: str(Path(text).resolve()))
    options.add_argument("--cases", type=int, nargs="*", default=[1000, 4000])
    options.add_argument("--delay", type=float, default=0.05)
    options.add_argument("--concurrency", type=int, default=32)
    options.add_argument("--limit", type=float, help="fail where a run takes more than this many times the ideal")
    options = options.parse_args()
    ready = multiprocessing.Queue()
    server = multiprocessing.Process(target=start, args=(options.delay, ready), daemon=True)
    server.start()
    port = ready.get()
    worst = 0.0
    for cases in options.cases:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            project(options.program, folder, cases)
            command = [
                options.program, "judge", "--batch", "b", "--rater", "m", "--model", "m", "--json",
                "--endpoint", f"http://127.0.0.1:{port}/v1", "--concurrency", str(options.concurrency),
            ]
            with open(folder / "out.json", "w") as out:
                child = subprocess.Popen(command, cwd=folder, stdout=out)
                _, status, usage = os.wait4(child.pid, 0)
            found = json.loads((folder / "out.json").read_text())
            if status != 0 or found["totals"]["verdicts"] != cases:
                sys.exit(f"not every case has its verdict: {found}")
            ideal = math.ceil(cases / options.concurrency) * options.delay
            wall = found["milliseconds"] / 1000
            worst = max(worst, wall / ideal)
            print(
                f"{cases} cases: {wall:.2f} s, ideal {ideal:.2f} s, ratio {wall / ideal:.2f}; CPU {usage.ru_utime + usage.ru_stime:.2f} s; "
                f"peak memory {usage.ru_maxrss / 1024:.1f} MB"
            )
    if options.limit and worst > options.limit:
        sys.exit(f"slower than {options.limit} times the ideal")


if __name__ == "__main__":
    main()
