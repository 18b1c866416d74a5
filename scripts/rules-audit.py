#!/usr/bin/env python3
"""Audit of the classifier's rule sets on a seeded sample of emissions.

  rules-audit.py sample --runs DIR --dualrater BIN --out DIR   draw the sample, write a blind sheet and its key
  rules-audit.py score  --out DIR [--dualrater BIN]            agreement of the raters, precision and recall of rule sets

The population is every distinct text emission of the runs below DIR (result files of BFCL multi-turn; made runs and
hand-typed excerpts are left out). A text that occurs more than once is represented by its occurrence with the smallest
ticket. The sample takes, per class of the rule set `paper`, the texts with the smallest tickets:
ticket(emission) = SHA-256 of `seed:run/file/case#turn.step`. The sheet is in an order of its own and shows no class.

Emission texts stay in the output folder, which must lie outside the repository; ids, labels and counts may be published.
Only the standard library is used.
"""

import argparse
import csv
import hashlib
import json
import math
import pathlib
import random
import re
import subprocess
import sys

CLASSES = ["tool_call", "refuse", "ask", "confirm", "other"]
CATEGORY = re.compile(r"multi_turn_(base|long_context|miss_func|miss_param)_result")
LEFT_OUT = ("_data", "_excerpts")


def emissions(root):
    """Every emission of every result file below root, as (id, value)."""
    for file in sorted(root.rglob("*.json")):
        run = file.relative_to(root).parts[0]
        found = CATEGORY.search(file.name)
        if run in LEFT_OUT or not found:
            continue
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                if not line.strip():
                    continue
                record = json.loads(line)
                turns = record.get("result")
                if not isinstance(turns, list):
                    continue
                for turn, steps in enumerate(turns):
                    for step, value in enumerate(steps if isinstance(steps, list) else [steps]):
                        yield f"{run}/{record['id']}#{turn}.{step}", value


def classify(binary, rules, values):
    """What `dualrater classify --json` says about each value."""
    text = "".join(json.dumps(value) + "\n" for value in values)
    command = [binary, "classify", "--rules", rules, "--json"]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def ticket(seed, identity):
    return hashlib.sha256(f"{seed}:{identity}".encode()).hexdigest()


def sample(args):
    first = {}
    for identity, value in emissions(args.runs):
        if isinstance(value, str) and value.strip():
            drawn = (ticket(args.seed, identity), identity)
            if value not in first or drawn < first[value]:
                first[value] = drawn
    texts = sorted(first, key=first.get)
    by_class = {name: [] for name in CLASSES}
    for text, verdict in zip(texts, classify(args.dualrater, "paper", texts)):
        if verdict["class"]:
            by_class[verdict["class"]].append(text)
    chosen = [(text, name) for name in CLASSES for text in by_class[name][: args.per_class]]
    # The order of the sheet depends on the text alone, not on its class.
    chosen.sort(key=lambda pair: ticket(args.seed + "-order", first[pair[0]][1]))
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "sheet.csv").open("w", newline="", encoding="utf-8") as sheet, (args.out / "key.csv").open(
        "w", newline="", encoding="utf-8"
    ) as key:
        sheet_rows, key_rows = csv.writer(sheet), csv.writer(key)
        sheet_rows.writerow(["id", "text"])
        key_rows.writerow(["id", "emission", "paper", "population"])
        for number, (text, name) in enumerate(chosen, 1):
            sheet_rows.writerow([f"e{number:03}", text])
            key_rows.writerow([f"e{number:03}", first[text][1], name, len(by_class[name])])
    for name in CLASSES:
        print(f"{name}: {min(args.per_class, len(by_class[name]))} of {len(by_class[name])} distinct texts")


def table(file, column):
    with file.open(newline="", encoding="utf-8") as rows:
        return {row["id"]: row[column] for row in csv.DictReader(rows)}


def kappa(first, second):
    ids = sorted(first.keys() & second.keys())
    n = len(ids)
    agree = sum(first[i] == second[i] for i in ids) / n
    chance = sum(
        sum(first[i] == name for i in ids) * sum(second[i] == name for i in ids) for name in CLASSES
    ) / n**2
    return n, agree, (agree - chance) / (1 - chance)


def rates(ids, weight, truth, predicted, name):
    """Weighted precision and recall of one class, each with the number of texts that it rests on."""
    hit = sum(weight[i] for i in ids if predicted[i] == name and truth[i] == name)
    said = sum(weight[i] for i in ids if predicted[i] == name)
    true = sum(weight[i] for i in ids if truth[i] == name)
    return (hit / said if said else None), (hit / true if true else None)


def wilson(hits, n):
    """Wilson's 95 % interval."""
    z = 1.959963984540054
    p, d = hits / n, 1 + z * z / n
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d
    centre = (p + z * z / (2 * n)) / d
    return max(0.0, centre - half), min(1.0, centre + half)


def show(value, draws, n):
    """A rate with its percentile interval over the stratified bootstrap draws, in percent; Wilson's on the n texts of the
    sample where the rate is 0 or 1, as every draw is then the same."""
    if value is None:
        return "undefined"
    kept = sorted(draw for draw in draws if draw is not None)
    low, high = kept[int(0.025 * len(kept))], kept[min(len(kept) - 1, int(0.975 * len(kept)))]
    if value in (0, 1):
        low, high = wilson(value * n, n)
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}] ({n})"


def score(args):
    key_class, population = table(args.out / "key.csv", "paper"), table(args.out / "key.csv", "population")
    texts = table(args.out / "sheet.csv", "text")
    ids = sorted(key_class)
    raters = {
        name: table(args.out / f"{name}.csv", "label")
        for name in ("rater1", "rater2", "adjudicated")
        if (args.out / f"{name}.csv").exists()
    }
    for name, labels in raters.items():
        bad = {i: label for i, label in labels.items() if label not in CLASSES or i not in key_class}
        if bad:
            sys.exit(f"{name}.csv: not labels of this sheet: {bad}")
    if "rater1" in raters and "rater2" in raters:
        n, agree, value = kappa(raters["rater1"], raters["rater2"])
        print(f"rater1 and rater2: n {n}, agreement {100 * agree:.1f} %, kappa {value:.3f}")
    # The truth is the shared label, else the ruling; texts without either are left out and counted.
    truth = {}
    for i in ids:
        said = {labels[i] for name, labels in raters.items() if name != "adjudicated" and i in labels}
        ruling = raters.get("adjudicated", {}).get(i)
        if ruling or len(said) == 1:
            truth[i] = ruling or said.pop()
    ids = [i for i in ids if i in truth]
    print(f"{len(truth)} of {len(key_class)} texts have a final label")
    strata = {name: [i for i in ids if key_class[i] == name] for name in CLASSES}
    weight = {i: int(population[i]) / len(strata[key_class[i]]) for i in ids}
    predicted = {"paper": key_class}
    for file in sorted(args.out.glob("classes-*.csv")):
        predicted[file.stem.removeprefix("classes-")] = table(file, "label")
    if args.dualrater and "strict" not in predicted:
        found = classify(args.dualrater, "strict", [texts[i] for i in ids])
        predicted["strict"] = {i: verdict["class"] or "none" for i, verdict in zip(ids, found)}
    generator = random.Random(args.seed)
    draws = [
        [generator.choice(stratum) for stratum in strata.values() for _ in stratum] for _ in range(args.draws)
    ]
    for rules, classes in predicted.items():
        print(f"\n{rules}: weighted to the {sum(map(int, set_of(population, key_class)))} distinct texts")
        print(f"{'class':10} {'precision % (texts)':28} recall % (texts)")
        for name in CLASSES:
            precision, recall = rates(ids, weight, truth, classes, name)
            boot = [rates(draw, weight, truth, classes, name) for draw in draws]
            said, true = sum(classes[i] == name for i in ids), sum(truth[i] == name for i in ids)
            shown = show(precision, [b[0] for b in boot], said), show(recall, [b[1] for b in boot], true)
            print(f"{name:10} {shown[0]:28} {shown[1]}")


def set_of(population, key_class):
    """The population of each class, once."""
    return {name: population[i] for i, name in key_class.items()}.values()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="rules-1")
    commands = parser.add_subparsers(required=True)
    draw = commands.add_parser("sample")
    draw.add_argument("--runs", type=pathlib.Path, required=True)
    draw.add_argument("--dualrater", required=True)
    draw.add_argument("--out", type=pathlib.Path, required=True)
    draw.add_argument("--per-class", type=int, default=100)
    draw.set_defaults(run=sample)
    scores = commands.add_parser("score")
    scores.add_argument("--out", type=pathlib.Path, required=True)
    scores.add_argument("--dualrater")
    scores.add_argument("--draws", type=int, default=2000)
    scores.set_defaults(run=score)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
