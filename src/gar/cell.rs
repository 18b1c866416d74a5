//! From the facts of a cell to its row.

use std::collections::BTreeMap;

use super::diagnosis::Diagnosis;
use super::facts::{CaseFacts, CellInput};
use super::row::{GarRow, Joint};
use crate::action::RuleSet;
use crate::estimate::Z95;
use crate::estimate::intervals::wilson;
use crate::estimate::paired::{Pairs, newcombe};
use crate::model::{ActionClass, Category, Verdict};

/// Computes the row of one category of one run: a case hits if some emission of any turn has the gold class. `rules` is
/// the rule set that gave the cases their classes.
#[must_use]
pub fn cell(input: &CellInput, rules: RuleSet) -> GarRow {
    let gold = input.category.gold_action();
    let hits: Vec<Option<bool>> = input.cases.iter().map(|case| Some(case.emits(gold))).collect();
    counted(input, rules, &hits)
}

/// The row over cases of which it is known whether they hit (`None`: it is not, and the case is left out of GAR).
pub(super) fn counted(input: &CellInput, rules: RuleSet, hit: &[Option<bool>]) -> GarRow {
    let gold = input.category.gold_action();
    let n = input.cases.len() as u64;
    let with = |wanted: bool| {
        let of = move |(case, hit): (&'_ CaseFacts, &Option<bool>)| (*hit == Some(wanted)).then(|| case.id.clone());
        input.cases.iter().zip(hit).filter_map(of).collect::<Vec<String>>()
    };
    let (hit_ids, miss_ids) = (with(true), with(false));
    let gar_hits = hit_ids.len() as u64;
    let known = gar_hits + miss_ids.len() as u64;
    let table = joint(&input.cases, hit);
    let scored = table.gar0_fail + table.gar0_pass + table.gar1_fail + table.gar1_pass;
    let verdicts = |wanted| input.cases.iter().filter(|case| case.verdict == Some(wanted)).count() as u64;
    let (passes, fails) = (verdicts(Verdict::Pass), verdicts(Verdict::Fail));
    // Over failures alone there is no accuracy, whatever the header says of the cases that are not there.
    let accuracy = (!input.failures_only)
        .then(|| input.header.or_else(|| (passes + fails > 0).then_some((passes, passes + fails))))
        .flatten();
    let mut row = GarRow {
        run: input.run.clone(),
        model: input.model.clone(),
        condition: input.condition.clone(),
        category: input.category,
        rules,
        failures_only: input.failures_only,
        gold,
        n,
        gar_hits: (known > 0 || n == 0).then_some(gar_hits),
        gar_left_out: n - known,
        gar_pct: percent(gar_hits, known),
        gar_ci95: wilson_percent(gar_hits, known),
        emission_classes: emission_classes(&input.cases),
        capability: capability(&input.cases),
        error_records: input.cases.iter().filter(|case| case.error_record).count() as u64,
        unscored: n - passes - fails,
        acc: accuracy.and_then(|(correct, total)| percent(correct, total)).map(|acc| acc / 100.0),
        acc_ci95: accuracy.and_then(|(correct, total)| wilson_percent(correct.min(total), total)),
        correct: accuracy.map(|(correct, _)| correct),
        total: accuracy.map(|(_, total)| total),
        joint: None,
        delta_pp: None,
        delta_ci95: None,
        diagnosis: None,
        masked_passes: None,
        masked_pass_pct: None,
        gar_turn_any: None,
        gar_turn_class: None,
        calls_at_gold_turn: None,
        no_such_turn_in_result: None,
        held_out_called_before_return: None,
        held_out_called_after_return: None,
        turn_recount: None,
        gold_turn_reason: Some("no data set was given, so the gold turns are not known".to_owned()),
        warnings: Vec::new(),
        notes: notes(input.category),
        hit_ids,
        miss_ids,
    };
    if scored > 0 && !input.failures_only {
        compare(&mut row, table);
    }
    if !input.run_has_text && gold != ActionClass::ToolCall {
        row.diagnosis = None;
    }
    row.warnings = warnings(input, &row, (passes, fails));
    row
}

/// Fills in everything that needs verdicts.
fn compare(row: &mut GarRow, table: Joint) {
    row.joint = Some(table);
    let counts = Pairs {
        both: table.gar1_pass,
        first_only: table.gar1_fail,
        second_only: table.gar0_pass,
        neither: table.gar0_fail,
    };
    if let (Some(difference), Ok(interval)) = (counts.difference(), newcombe(counts, Z95)) {
        row.delta_pp = Some(100.0 * difference);
        row.delta_ci95 = Some(hundredfold(interval.limits()));
        row.diagnosis = Some(Diagnosis::of_interval(interval.limits()));
    }
    row.masked_passes = Some(table.gar0_pass);
    row.masked_pass_pct = percent(table.gar0_pass, table.gar0_pass + table.gar1_pass);
}

fn joint(cases: &[CaseFacts], hit: &[Option<bool>]) -> Joint {
    let mut table = Joint::default();
    for (case, hit) in cases.iter().zip(hit) {
        match (hit, case.verdict) {
            (Some(false), Some(Verdict::Fail)) => table.gar0_fail += 1,
            (Some(false), Some(Verdict::Pass)) => table.gar0_pass += 1,
            (Some(true), Some(Verdict::Fail)) => table.gar1_fail += 1,
            (Some(true), Some(Verdict::Pass)) => table.gar1_pass += 1,
            (None, _) | (_, None) => {}
        }
    }
    table
}

fn emission_classes(cases: &[CaseFacts]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for class in cases.iter().flat_map(|case| &case.classes) {
        *counts.entry(class.map_or("none", ActionClass::as_str).to_owned()).or_insert(0) += 1;
    }
    counts
}

fn capability(cases: &[CaseFacts]) -> BTreeMap<ActionClass, u64> {
    let seen = |class| cases.iter().filter(|case| case.emits(class)).count() as u64;
    ActionClass::ALL.into_iter().map(|class| (class, seen(class))).collect()
}

fn notes(category: Category) -> Vec<String> {
    match category {
        Category::Base | Category::LongContext => {
            vec!["a model that calls tools blindly at every turn scores the same GAR here".to_owned()]
        }
        _ => Vec::new(),
    }
}

fn warnings(input: &CellInput, row: &GarRow, (passes, fails): (u64, u64)) -> Vec<String> {
    let mut out = Vec::new();
    if row.n == 0 {
        out.push("no records: every rate is undefined".to_owned());
    }
    if input.failures_only {
        out.push(
            "only failed cases are here: GAR describes failures; the joint table, Δ, the diagnosis and masked passes are \
             undefined"
                .to_owned(),
        );
    } else if row.n > 0 && row.unscored == row.n {
        out.push("no verdicts: the joint table, Δ, the diagnosis and masked passes are undefined".to_owned());
    } else if row.unscored > 0 {
        out.push(format!(
            "{} of {} records have no verdict; the joint table and Δ leave them out",
            row.unscored, row.n
        ));
    }
    if row.acc.is_none() && row.n > 0 {
        out.push("no score: Acc is undefined".to_owned());
    }
    if row.masked_passes.is_some() && row.masked_pass_pct.is_none() {
        out.push("no passes: the share of masked passes is undefined".to_owned());
    }
    if row.error_records > 0 {
        out.push(format!(
            "{} of {} records are inference errors: they count in n and are never a hit",
            row.error_records, row.n
        ));
    }
    if !input.run_has_text {
        let undefined = if row.gold != ActionClass::ToolCall && row.joint.is_some() {
            ", so the diagnosis is undefined and masked passes may be passes whose text was not saved"
        } else {
            ""
        };
        out.push(format!(
            "the run file holds no text emission in any category: ask, refuse and confirm are unobservable{undefined}"
        ));
    }
    out.extend(header_differs(input, passes, fails));
    out
}

/// The header of the score file against the records: passes of the scored records, or failures where only those are here.
fn header_differs(input: &CellInput, passes: u64, fails: u64) -> Option<String> {
    let (correct, total) = input.header?;
    let expected_fails = total.checked_sub(correct);
    let agree = expected_fails == Some(fails) && (input.failures_only || correct == passes);
    if agree {
        return None;
    }
    Some(format!(
        "the score header says {correct} of {total} correct, the records hold {passes} passes and {fails} fails; Acc is the header's"
    ))
}

/// `part` in percent of `whole`; `None`: nothing to divide by.
pub(super) fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// Wilson's interval in percent with the published study's critical value, 1.96. `None`: no records.
fn wilson_percent(k: u64, n: u64) -> Option<[f64; 2]> {
    const Z_PUBLISHED: f64 = 1.96;
    wilson(k, n, Z_PUBLISHED).ok().map(|interval| hundredfold(interval.limits()))
}

fn hundredfold([low, high]: [f64; 2]) -> [f64; 2] {
    [100.0 * low, 100.0 * high]
}
