"""Estimates of an audit on real runs, against formulas written here from their sources and not from the program.

The truth is taken from the score files and the published GAR rows; the answers are those that the script itself gave.
"""
import csv
import hashlib
import json
import math

PLAN = """
id = "estimation"
title = "Cells, one of them covered in part"
[roles]
xlam = "xLAM-2-8b"
gptoss = "gpt-oss-20b"
[[stratum]]
id = "F"
title = "fails"
quota = 40
filter = { run = "xlam", category = "miss_func", verdict = "FAIL" }
[[stratum]]
id = "P"
title = "passes"
quota = 20
filter = { run = "xlam", category = "miss_func", verdict = "PASS" }
[[stratum]]
id = "M"
title = "one stratum a cell"
quota = 50
filter = { run = "xlam", category = "miss_param" }
[[stratum]]
id = "G"
title = "of this cell the fails only"
quota = 30
filter = { run = "gptoss", category = "base", verdict = "FAIL" }
"""
XLAM, GPTOSS = "Salesforce_Llama-xLAM-2-8b-fc-r", "openai_gpt-oss-20b"
CELLS = {"F": (XLAM, "miss_func"), "P": (XLAM, "miss_func"), "M": (XLAM, "miss_param"), "G": (GPTOSS, "base")}


def number(case, of):
    return hashlib.sha256(case.encode()).digest()[0] % of


def published(shared):
    """Per run and category the ids of hits, and of failing cases."""
    hits, fails = {}, {}
    for row in json.loads((shared / "data" / "expected" / "bfcl-gar.json").read_text()):
        key = (row["run"], row["category"])
        if key not in CELLS.values():
            continue
        every = [f"multi_turn_{row['category']}_{n}" for n in range(row["n"])]
        missed = row.get("miss_ids")
        hits[key] = set(row["hit_ids"]) if missed is None else set(every) - set(missed)
        folder = shared / "runs" / "bfcl" / row["run"] / "score"
        [score] = folder.glob(f"*_multi_turn_{row['category']}_score.json")
        lines = [json.loads(line) for line in score.read_text().splitlines()]
        fails[key] = {line["id"] for line in lines[1:]}
        assert len(fails[key]) == row["total"] - row["correct"]
    return hits, fails


def member(stratum, case, fails):
    """Does the stratum take the case?"""
    failed = case in fails[CELLS[stratum]]
    return {"F": failed, "P": not failed, "M": True, "G": failed}[stratum]


def kappa_of(weights, pairs):
    """Kappa of a weighted table."""
    total = sum(weights)
    cell = lambda i, j: sum(w for w, pair in zip(weights, pairs) if pair == (i, j)) / total
    po = cell(0, 0) + cell(1, 1)
    pe = sum((cell(i, 0) + cell(i, 1)) * (cell(0, i) + cell(1, i)) for i in (0, 1))
    return (po - pe) / (1 - pe)


def weighted_kappa(strata):
    """Kappa and its linearised error. The influence of a case is taken by numerical differentiation of kappa after its weight."""
    weights, pairs, of = [], [], []
    for at, (size, sample) in enumerate(strata):
        for pair in sample:
            weights.append(size / len(sample))
            pairs.append(pair)
            of.append(at)
    kappa = kappa_of(weights, pairs)
    influence = {}
    step = 1e-4
    for at in range(len(pairs)):
        key = (of[at], pairs[at])
        if key not in influence:
            up = weights[:at] + [weights[at] + step] + weights[at + 1:]
            down = weights[:at] + [weights[at] - step] + weights[at + 1:]
            influence[key] = weights[at] * (kappa_of(up, pairs) - kappa_of(down, pairs)) / (2 * step)
    variance = 0.0
    for at, (size, sample) in enumerate(strata):
        z = [influence[(at, pair)] for pair in sample]
        n, mean = len(z), sum(z) / len(z)
        variance += (1 - n / size) * n / (n - 1) * sum((value - mean) ** 2 for value in z)
    return kappa, math.sqrt(variance)


def run(shared, folder, dualrater, check):
    """`dualrater(*arguments)` gives what the program prints."""
    hits, fails = published(shared)
    plan = folder / "estimation.toml"
    plan.write_text(PLAN)
    drawn = json.loads(dualrater("draw", plan, "--batch", "estimation", "--seed", "estimation-1", "--bind", f"xlam={XLAM}",
                                 "--bind", f"gptoss={GPTOSS}", "--json"))
    cases = [(case["stratum"], case["case_id"] if "case_id" in case else case["case"].split("/", 1)[1]) for case in drawn["cases"]]
    check("estimation: drawn", len(cases), 140)
    for stratum, case in cases:
        check(f"estimation: {case} is of {stratum}", member(stratum, case, fails), True)
    # The first rater sees the hit, but for one case in seven; the second differs in one of nine; rulings follow the first.
    first = {case: int((case in hits[CELLS[stratum]]) != (number(case, 7) == 0)) for stratum, case in cases}
    second = {case: int(bool(value) != (number(case, 9) == 1)) for case, value in first.items()}
    for rater, answers in (("cora", first), ("dan", second)):
        sheet = folder / f"{rater}.csv"
        dualrater("export", "--batch", "estimation", "--rater", rater, "--as", "csv", "--out", sheet)
        passed = lambda run, case: not any(case in ids for key, ids in fails.items() if key[0] == run)
        rewrite(sheet, lambda row: fill(row, answers[row["case"].split("/", 1)[1]], passed(*row["case"].split("/", 1))))
        dualrater("import", sheet)
    rulings = folder / "estimation-rulings.csv"
    dualrater("adjudicate", "export", "--batch", "estimation", "--spot-checks", "0", "--out", rulings)

    def rule(row):
        value = first[row["case"].split("/", 1)[1]] if row["label"] == "B1b" else row["left_value"]
        return row | {"value": value, "note": "by the script"}
    rewrite(rulings, rule)
    dualrater("adjudicate", "import", rulings)
    found = json.loads(dualrater("estimate", "--batch", "estimation", "--label", "B1b", "--json"))

    size = {stratum: sum(member(stratum, f"multi_turn_{cell[1]}_{n}", fails) for n in range(200)) for stratum, cell in CELLS.items()}
    sample = {stratum: [case for of, case in cases if of == stratum] for stratum in CELLS}
    kappa, se = weighted_kappa([(size[s], [(first[case], second[case]) for case in sample[s]]) for s in CELLS])
    check("estimation: weighted kappa", found["weighted_kappa"]["kappa"], kappa, 1e-12)
    check("estimation: its standard error", found["weighted_kappa"]["se"], se, 1e-7)
    check("estimation: its interval", found["weighted_kappa"]["ci95"], [kappa - 1.959963985 * se, kappa + 1.959963985 * se], 1e-7)
    rows = {row["cell"]: row for row in found["cells"]}
    whole_confusion = dict.fromkeys(("tp", "fp", "fn", "tn"), 0)
    for cell, strata in (((XLAM, "miss_func"), "FP"), ((XLAM, "miss_param"), "M"), ((GPTOSS, "base"), "G")):
        row, name = rows[f"{cell[0]}/{cell[1]}"], f"estimation: {cell[0]}/{cell[1]}"
        quadrant = lambda case: {(1, 1): "tp", (0, 1): "fp", (1, 0): "fn", (0, 0): "tn"}[(first[case], int(case in hits[cell]))]
        audited = [case for stratum in strata for case in sample[stratum]]
        confusion = {key: sum(quadrant(case) == key for case in audited) for key in whole_confusion}
        check(f"{name} confusion", row["confusion"], confusion)
        for key, count in confusion.items():
            whole_confusion[key] += count
        check(f"{name} n and k", [row["sample"]["n"], row["sample"]["k"]], [len(audited), sum(first[case] for case in audited)])
        if cell[0] == GPTOSS:
            check(f"{name} not covered", [row["covered"], row["weighted_rate"], row["rogan_gladen"]["rate"]], [False, None, None])
            check(f"{name} has a reason", bool(row["reason"]) and "95 pass" in row["reason"].lower(), True)
            share = sum(first[case] for case in audited) / len(audited)
            check(f"{name} covered part", row["covered_part"]["weighted_rate"], share, 1e-12)
            continue
        total = sum(size[s] for s in strata)
        mean = lambda value: sum(size[s] / total * sum(value(case) for case in sample[s]) / len(sample[s]) for s in strata)
        check(f"{name} N", row["N"], total)
        check(f"{name} covered", row["covered"], True)
        check(f"{name} GAR", row["gar_rate"], len(hits[cell]) / total, 1e-12)
        check(f"{name} weighted rate", row["weighted_rate"], mean(lambda case: first[case]), 1e-12)
        error = mean(lambda case: first[case] - (case in hits[cell]))
        check(f"{name} difference estimator", row["difference_estimator"]["rate"], len(hits[cell]) / total + error, 1e-12)
        check(f"{name} lambda", row["difference_estimator"]["lambda"], 1.0)
        share = {key: mean(lambda case: quadrant(case) == key) for key in confusion}
        sensitivity, specificity = share["tp"] / (share["tp"] + share["fn"]), share["tn"] / (share["tn"] + share["fp"])
        corrected = (len(hits[cell]) / total + specificity - 1) / (sensitivity + specificity - 1)
        check(f"{name} Rogan-Gladen", row["rogan_gladen"]["rate"], corrected, 1e-12)
        for key in ("weighted_rate", "rogan_gladen", "difference_estimator"):
            low, high = row["ci95"] if key == "weighted_rate" else row[key]["ci95"]
            rate = row["weighted_rate"] if key == "weighted_rate" else row[key]["rate"]
            check(f"{name} interval of {key} in order", 0 <= low <= rate <= high <= 1, True)
    check("estimation: confusion of all", found["confusion"], whole_confusion)


def fill(row, b1b, passed):
    """B1b as told; the rest so that the rubric's rules hold."""
    answers = {"B1a": 0, "B1b": b1b, "B3": 0, "B4": 0, "B5": int(passed), "B6": "n.a.", "B7": "unclassified"}
    for label, value in answers.items():
        if label in row and row[label] != "n.a.":
            row[label], row[f"{label}_rationale"] = value, "by the script"
    return row


def rewrite(sheet, change):
    with open(sheet, encoding="utf-8-sig", newline="") as file:
        rows = [change(row) for row in csv.DictReader(file)]
    with open(sheet, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
