"""Reference values of agreement and rates, through the program alone: `kappa`, `rate-ci` and `rate-diff` print what other
programs and papers have printed. Each entry of the shared list has its source, its input and its tolerance."""
import csv
import json

# What the list calls by another name than the program.
COEFFICIENTS = {"conger_exact": "conger"}
NEWCOMBE = {"ci95": "newcombe"}


def run(shared, folder, call, check):
    """`call(*arguments)` gives the program's JSON; `check(name, found, expected, tolerance)` compares."""
    for entry in json.loads((shared / "data" / "reference_values.json").read_text())["entries"]:
        one(entry, folder, call, check)


def one(entry, folder, call, check):
    name, given, expected, tolerance = entry["id"], entry["input"], entry["expected"], entry["tolerance"]
    if name[0] in "isr" or name == "p01":
        return  # acceptance_survey.py
    kind = given["type"]
    if kind == "paired_2x2":
        row = call("rate-diff", "--paired", matrix(given["table"]))
        test = {**row["mcnemar"], **{f"mcnemar_{key}": row["mcnemar"][field]
                                     for key, field in (("p", "p"), ("exact_p", "exact_p"), ("midp", "midp"))}}
        check(name, {**test, "diff": row["diff"], "ci95": row["newcombe"]}, expected, tolerance)
    elif kind == "confusion_matrix":
        row = call("kappa", "--table", matrix(given["table"]), *weights(name, given, folder))[0]
        check(name, named(row, expected), expected, tolerance)
    elif kind == "labels":
        labels(name, given, expected, tolerance, folder, call, check)
    elif kind == "ratings":
        metric = entry["statistic"].rpartition(" ")[2]
        expected = expected if isinstance(expected, dict) else {metric: expected}
        raters(name, call, check, wide(folder, given["items_x_raters"]), expected, tolerance)
    elif kind == "binomial":
        check(name, call("rate-ci", given["x"], given["n"]), expected, tolerance)
    elif kind == "binomial_list":
        for at, (x, n) in enumerate(given["cases"]):
            check(name, call("rate-ci", x, n), {key: limits[at] for key, limits in expected.items()}, tolerance)
    elif kind == "two_binomials":
        row = call("rate-diff", given["x1"], given["n1"], given["x2"], given["n2"])
        method = "miettinen_nurminen" if "Miettinen" in entry["name"] else "newcombe"
        check(name, row, {method if key == "ci95" else key: value for key, value in expected.items()}, tolerance)
    elif kind == "counts":
        row = call("kappa", counts(folder, given["items_x_categories"]), "--layout", "counts")[0]
        check(name, {"po": row["fleiss"]["pa"], "pe": row["fleiss"]["pe"], "kappa": row["fleiss"]["coef"],
                     "randolph": row["randolph"]["coef"]}, expected, tolerance)
    else:
        raise SystemExit(f"{name}: input of kind {kind} is not known here")


def labels(name, given, expected, tolerance, folder, call, check):
    path = wide(folder, zip(*(value for key, value in given.items() if key.startswith("rater"))))
    kappa = lambda *options: call("kappa", path, *options)[0]["kappa"]
    if expected == "undefined":
        check(name, kappa(), None, 0)
    elif not isinstance(expected, dict):
        check(name, kappa(), expected, tolerance)
    elif "codebook_order" in expected:
        for order, wanted in (("low,mid,high", "codebook_order"), ("high,low,mid", "alphabetical_order_wrong")):
            check(f"{name}.{wanted}", kappa("--order", order, "--weights", "quadratic"), expected[wanted], tolerance)
    else:
        for order, wanted in (("1,2,3,4,6", "levels_used_only"), ("1,2,3,4,5,6", "full_scale_1_to_6")):
            for scheme, value in expected[wanted].items():
                chosen = [] if scheme == "unweighted" else ["--weights", scheme]
                check(f"{name}.{wanted}.{scheme}", kappa("--order", order, *chosen), value, tolerance)


def named(row, expected):
    """The program's row with the names of the list."""
    tests = {"bowker": ("bowker", "chi2"), "stuart_maxwell": ("stuart_maxwell", "chi2"),
             "stuart_maxwell_p": ("stuart_maxwell", "p"), "bhapkar": ("bhapkar", "chi2"), "bhapkar_p": ("bhapkar", "p")}
    found = dict(row)
    for key, (test, field) in tests.items():
        if key in expected:
            found[key] = (row[test] or {}).get(field)
    return found


def matrix(table):
    return ";".join(",".join(map(str, row)) for row in table)


def weights(name, given, folder):
    for kind in ("linear", "quadratic"):
        if name.endswith(f"-w{kind}"):
            return ["--weights", kind]
    for key in ("agreement_weights", "disagreement_weights"):
        if key in given:
            path = folder / "weights.csv"
            path.write_text("".join(",".join(map(str, row)) + "\n" for row in given[key]))
            return ["--weights", path]
    return []


def wide(folder, rows):
    path = folder / "ratings.csv"
    rows = [list(row) for row in rows]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *(f"rater{at + 1}" for at in range(len(rows[0])))])
        for at, row in enumerate(rows):
            writer.writerow([at + 1, *("" if value is None else value for value in row)])
    return path


def counts(folder, rows):
    path = folder / "counts.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *(f"c{at + 1}" for at in range(len(rows[0])))])
        writer.writerows([at + 1, *row] for at, row in enumerate(rows))
    return path


def raters(name, call, check, path, expected, tolerance):
    if "correct" in expected:
        expected = {"nominal": expected["correct"]}
    if set(expected) <= {"nominal", "ordinal", "interval", "ratio"}:
        found = call("kappa", path)[0]["krippendorff_alpha"]
        check(name, {metric: found[metric]["alpha"] for metric in expected}, expected, tolerance)
        return
    if "fleiss" in expected:
        row = call("kappa", path)[0]
        for key, value in expected.items():
            check(f"{name}.{key}", row[COEFFICIENTS.get(key, key)]["coef"], value, tolerance)
        return
    for scheme, coefficients in expected.items():
        chosen = [] if scheme == "unweighted" else ["--weights", scheme]
        row = call("kappa", path, *chosen)[0]
        for key, values in coefficients.items():
            # irrCAC rounds coefficients and standard errors to five digits.
            for field, value in values.items():
                rounded = 5.1e-6 if field in ("coef", "se") else tolerance
                check(f"{name}.{scheme}.{key}.{field}", row[key][field], value, rounded)
