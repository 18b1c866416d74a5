//! τ² runs in `dualrater gar`.

use crate::action::RuleSet;
use crate::cli::{Output, output};
use crate::error::Result;
use crate::store::Store;
use crate::tau2::{Tau2GarRow, audit, gar_rows};

/// The rows of the τ² runs among some runs (of all, where none is named).
pub(in crate::cli) fn rows(store: &Store, runs: &[String], rules: &[RuleSet]) -> Result<Vec<Tau2GarRow>> {
    let mut wanted = Vec::new();
    if runs.is_empty() {
        wanted = store.runs()?;
    } else {
        for name in runs {
            wanted.push(store.run(name)?);
        }
    }
    let mut rows = Vec::new();
    for run in wanted {
        let Some(facts) = store.tau2_facts(&run)? else { continue };
        let audit = audit(&facts);
        for rules in rules {
            rows.extend(gar_rows(&facts, &audit, (&run.model, &run.condition), *rules));
        }
    }
    Ok(rows)
}

/// One block a run and rule set.
pub(in crate::cli) fn show(rows: &[Tau2GarRow], output: &mut Output) {
    for block in rows.chunk_by(|a, b| (&a.run, a.rules) == (&b.run, b.rules)) {
        let Some(first) = block.first() else { continue };
        output.line(format!(
            "{} · τ² {} · model {} · {} · rules {}",
            first.run,
            first.domain,
            first.model,
            first.condition,
            first.rules.as_str()
        ));
        let rated = |value: Option<f64>, interval: Option<[f64; 2]>| {
            format!("{} {}", output::percent(value), output::interval(interval, 1)).trim_end().to_owned()
        };
        let table: Vec<Vec<String>> = block
            .iter()
            .map(|row| {
                let delta = row.delta_pp.map_or("–".to_owned(), |delta| format!("{delta:+.1}"));
                vec![
                    row.class.to_string(),
                    row.denominator.to_string(),
                    rated(row.gar_pct, row.gar_ci95),
                    rated(row.acc_pct, row.acc_ci95),
                    format!("{delta} {}", output::interval(row.delta_ci95, 1)).trim_end().to_owned(),
                ]
            })
            .collect();
        output.table(&["class", "n", "GAR %", "Acc %", "Δ pp"], &table, &[1, 2, 3, 4]);
        for row in block {
            let diagnosis = row.diagnosis.map_or("no diagnosis", |diagnosis| match diagnosis {
                crate::gar::Diagnosis::Masking => "masking",
                crate::gar::Diagnosis::ExecutionGap => "execution gap",
                crate::gar::Diagnosis::NoClearGap => "no clear gap",
            });
            let passes = row.joint.gar0_pass + row.joint.gar1_pass;
            let masked = row.joint.gar0_pass;
            output.line(format!(" {}: {diagnosis}; {masked} of {passes} passes are without the gold action", row.class));
            for (name, subset) in row.subsets.iter().flatten() {
                let percent = |hits: u64| {
                    output::percent((subset.n > 0).then(|| hits as f64 * 100.0 / subset.n as f64))
                };
                output.line(format!(
                    "   ask, subset {name}: n {}, GAR {} %, Acc {} %",
                    subset.n,
                    percent(subset.gar_hits),
                    percent(subset.acc_hits)
                ));
            }
        }
        let masking = &first.masking;
        output.line(format!(
            " of {} passes {} are on tasks without a reference write ({} of them tool_call): an agent that does nothing gets them",
            masking.passes, masking.passes_without_reference_write, masking.tool_call_passes_without_reference_write
        ));
        for note in &first.notes {
            output.line(format!("note: {note}"));
        }
        output.line("");
    }
}
