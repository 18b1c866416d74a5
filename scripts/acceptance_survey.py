"""Reference values of designs and corrections, through the program alone: `rate-weighted` prints what R's survey, ppi-python,
glide and other programs print for the same cases; `kappa` the bootstrap of a table."""
import csv
import json

from acceptance_agreement import matrix


def run(shared, folder, call, check):
    """`call(*arguments)` gives the program's JSON; `check(name, found, expected, tolerance)` compares."""
    entries = {entry["id"]: entry for entry in json.loads((shared / "data" / "reference_values.json").read_text())["entries"]}
    table = folder / "survey.csv"

    def weighted(rows, *options):
        header = list(rows[0])
        with open(table, "w", newline="") as file:
            writer = csv.DictWriter(file, header)
            writer.writeheader()
            writer.writerows(rows)
        return call("rate-weighted", table, *options)

    def compare(name, found):
        check(name, found, entries[name]["expected"], entries[name]["tolerance"])

    # R's apistrat.
    given = entries["s01"]["input"]
    variables = [key for key in given if key not in ("type", "N")]
    rows = [{"stratum": stratum, **{key: given[key][stratum][at] for key in variables}}
            for stratum in given["N"] for at in range(len(given["api00"][stratum]))]
    population = ["--population", ",".join(f"{stratum}={size}" for stratum, size in given["N"].items())]
    api = weighted(rows, "--value", "api00", *population, "--total", 200)
    enroll = weighted(rows, "--value", "enroll", *population)["mean"]
    compare("s01", {"mean_api00": api["mean"]["mean"], "se_api00": api["mean"]["se"], "df": api["mean"]["df"],
                    "ci95_normal_api00": api["mean"]["ci95_normal"], "mean_enroll": enroll["mean"], "se_enroll": enroll["se"],
                    "total_enroll": enroll["total"], "se_total_enroll": enroll["se_total"]})
    compare("s06", api["allocation"])
    awards = weighted(rows, "--value", "awards_yes", *population)
    design = awards["rate"]["design_intervals"]
    compare("s02", {"p": awards["rate"]["rate"], "se": awards["rate"]["se"], "deff": awards["mean"]["deff"],
                    "logit_ci": design["logit"], "korn_graubard_ci": design["korn_graubard"], "wald_t_ci": design["wald_t"]})
    kappa = weighted(rows, "--raters", "comp_imp_yes,sch_wide_yes", *population)["weighted_kappa"]
    check("s03.weighted_cells", sum(kappa["weighted_cells"], []), sum(entries["s03"]["expected"]["weighted_cells"], []), 2e-5)
    check("s03", kappa, {key: entries["s03"]["expected"][key] for key in ("kappa", "se", "unweighted_kappa")}, 2e-5)
    given = entries["s04"]["input"]
    rows = [dict(zip(("cluster", "a", "b"), row)) for row in zip(given["cluster"], given["comp_imp_yes"], given["sch_wide_yes"])]
    compare("s04", weighted(rows, "--raters", "a,b", "--population", given["n_clusters_population"])["weighted_kappa"])

    # Two cities that rate alike, or not.
    given = entries["p01"]["input"]["strata"]
    rows = [{"stratum": city, "a": i, "b": j} for city, counts in given.items()
            for i, line in enumerate(counts) for j, count in enumerate(line) for _ in range(count)]
    found = weighted(rows, "--raters", "a,b")["stratum_kappa"]
    own = {row["stratum"]: row["kappa"] for row in found["strata"]}
    test = found["pooled"]["homogeneity"]
    compare("p01", {"kappa_winnipeg": own["Winnipeg"], "kappa_new_orleans": own["NewOrleans"], "pooled": found["pooled"]["kappa"],
                    "pooled_se": found["pooled"]["se"], "homogeneity_chi2": test["chi2"], "p": test["p"]})

    # Labels for a few, an automatic value for many.
    given = entries["i01"]["input"]
    rest = given["predictions_unlabelled"]
    rows = [{"value": y, "metric": f} for y, f in zip(given["labels"], given["predictions_labelled"])]
    rows += [{"value": "", "metric": f} for f in [1] * rest["ones"] + [0] * rest["zeros"]]
    powered = {row["lambda"]: row for row in weighted(rows)["ppi"]}
    of = lambda name, convention: {"est": powered[name][convention]["est"], "ci95": powered[name][convention]["ci95"]}
    compare("i01", {
        "ppi_lambda1": {"est": of("1", "glide")["est"], "ci95_ddof0": of("1", "ppi_python")["ci95"], "ci95_ddof1": of("1", "glide")["ci95"]},
        "classical": {"est": of("0", "glide")["est"], "ci95_ddof0": of("0", "ppi_python")["ci95"]},
        "tuned": {"ppi_py": of("tuned", "ppi_python"), "glide": of("tuned", "glide")}})
    given = entries["i02"]["input"]
    rows = [{"stratum": stratum, "value": "" if y is None else y, "metric": f}
            for stratum, y, f in zip(given["stratum"], given["y_true"], given["y_proxy"])]
    powered = {row["lambda"]: row["glide"] for row in weighted(rows)["ppi"]}
    compare("i02", {"tuned": powered["tuned"], "lambda1": powered["1"]})

    # A judge's verdicts corrected by people's; a pass is 1.
    given = entries["i03"]["input"]
    cells = [(0, 0, "human_fail_judge_fail"), (0, 1, "human_fail_judge_pass"), (1, 0, "human_pass_judge_fail"), (1, 1, "human_pass_judge_pass")]
    rows = [{"value": y, "metric": f, "human": y, "judge": f} for y, f, key in cells for _ in range(given[key])]
    passes, judged = given["judge_only_pass"], given["judge_only_n"]
    rows += [{"value": "", "metric": int(at < passes), "human": "", "judge": ""} for at in range(judged)]
    found = weighted(rows, "--raters", "human,judge")
    row, agreement = found["rogan_gladen"][0], found["weighted_kappa"]
    compare("i03", {"tpr": row["specificity"], "tpr_ci": row["specificity_ci95"], "tnr": row["sensitivity"], "tnr_ci": row["sensitivity_ci95"],
                    "agreement": agreement["po"], "kappa": agreement["kappa"], "raw_pass": row["apparent"], "corrected_pass": row["corrected"]["rate"]})
    check("i03.published", [round(100 * limit, 1) for limit in row["corrected"]["ci95"]], [67.3, 84.1])

    for name in ("r01", "r03"):
        row = call("kappa", "--table", matrix(entries[name]["input"]["table"]), "--replicates", 200000)[0]
        expected, interval = entries[name]["expected"], row["ci95_bootstrap"]
        check(name, {"boot_se": row["bootstrap_se"], "percentile95": [interval["low"], interval["high"]]},
              {key: expected[key] for key in ("boot_se", "percentile95")}, entries[name]["tolerance"])
        check(name, row, {"jackknife_se": expected["jackknife_se"]}, 1e-9)
