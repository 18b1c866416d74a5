//! The row of the GAR table. Its field names are a contract with scripts: extend, never rename.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::diagnosis::Diagnosis;
use super::gold_turn::{GoldTurnCell, TurnRecount};
use crate::action::RuleSet;
use crate::model::{ActionClass, Category};

/// Scored cases by gold action (emitted or not) and verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Joint {
    /// No gold action, fail.
    pub gar0_fail: u64,
    /// No gold action, pass: masked.
    pub gar0_pass: u64,
    /// Gold action, fail.
    pub gar1_fail: u64,
    /// Gold action, pass.
    pub gar1_pass: u64,
}

/// GAR, Acc and their difference for one category of one run. A field that is null has its reason in `warnings`
/// (the gold-turn fields in `gold_turn_reason`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GarRow {
    /// The run's name.
    pub run: String,
    /// The model.
    pub model: String,
    /// The condition.
    pub condition: String,
    /// The category.
    pub category: Category,
    /// The rules that classified the emissions.
    pub rules: RuleSet,
    /// The file holds the failed cases only, so every share describes failures.
    pub failures_only: bool,
    /// The class that the category asks for.
    pub gold: ActionClass,
    /// All records, error records among them.
    pub n: u64,
    /// Records with the gold action: under `paper` an emission of the gold class in any turn, under `strict` one in the
    /// gold window; error records never. Null where it is known of no record.
    pub gar_hits: Option<u64>,
    /// Records of which it is not known whether they hit, because the data set has no gold turn for them (`strict`).
    pub gar_left_out: u64,
    /// `gar_hits` in percent of `n` less `gar_left_out`.
    pub gar_pct: Option<f64>,
    /// Wilson interval of GAR in percent, with z = 1.96 as published.
    pub gar_ci95: Option<[f64; 2]>,
    /// Emissions by class; `none` for those with nothing to classify. Classes that do not occur are left out.
    pub emission_classes: BTreeMap<String, u64>,
    /// Cases with at least one emission of each class: what the model has been seen to do at all.
    pub capability: BTreeMap<ActionClass, u64>,
    /// Records that hold an inference error.
    pub error_records: u64,
    /// Records without a verdict.
    pub unscored: u64,
    /// Accuracy as a fraction: by the score file's header, else by the verdicts.
    pub acc: Option<f64>,
    /// Wilson interval of Acc in percent, with z = 1.96.
    pub acc_ci95: Option<[f64; 2]>,
    /// The numerator of `acc`.
    pub correct: Option<u64>,
    /// The denominator of `acc`.
    pub total: Option<u64>,
    /// Scored records by gold action and verdict.
    pub joint: Option<Joint>,
    /// GAR − Acc over the scored records, in percentage points.
    pub delta_pp: Option<f64>,
    /// Newcombe's interval of Δ for paired proportions, in percentage points.
    pub delta_ci95: Option<[f64; 2]>,
    /// What the interval of Δ says.
    pub diagnosis: Option<Diagnosis>,
    /// Passes without the gold action.
    pub masked_passes: Option<u64>,
    /// `masked_passes` in percent of all passes.
    pub masked_pass_pct: Option<f64>,
    /// Cases with the gold class in some emission of the gold turn.
    pub gar_turn_any: Option<u64>,
    /// Cases whose gold turn has the gold class as its own.
    pub gar_turn_class: Option<u64>,
    /// Cases with a call at the gold turn.
    pub calls_at_gold_turn: Option<u64>,
    /// Cases whose result does not reach the gold turn.
    pub no_such_turn_in_result: Option<u64>,
    /// Cases that call a held-out tool before its return; `miss_func` only.
    pub held_out_called_before_return: Option<u64>,
    /// Cases that call a held-out tool at its return or later; `miss_func` only.
    pub held_out_called_after_return: Option<u64>,
    /// The turns of all cases by the class that was due; null without a data set.
    pub turn_recount: Option<TurnRecount>,
    /// Why the gold-turn fields are null.
    pub gold_turn_reason: Option<String>,
    /// What limits the numbers, and why a field is null.
    pub warnings: Vec<String>,
    /// What a reader should know about this kind of cell.
    pub notes: Vec<String>,
    /// Ids with the gold action, in the order of the file.
    pub hit_ids: Vec<String>,
    /// Ids without it, in the order of the file.
    pub miss_ids: Vec<String>,
}

impl GarRow {
    /// The same row with what its cases did at their gold turns; `counts` must be over the same records.
    #[must_use]
    pub fn with_gold_turn(mut self, counts: &GoldTurnCell) -> Self {
        self.gar_turn_any = Some(counts.gar_turn_any);
        self.gar_turn_class = Some(counts.gar_turn_class);
        self.calls_at_gold_turn = Some(counts.calls_at_gold_turn);
        self.no_such_turn_in_result = Some(counts.no_such_turn_in_result);
        self.held_out_called_before_return = counts.held_out_called_before_return;
        self.held_out_called_after_return = counts.held_out_called_after_return;
        self.turn_recount = Some(counts.recount);
        self.gold_turn_reason =
            counts.held_out_called_before_return.is_none().then(|| "only miss_func holds tools out".to_owned());
        if counts.without_ground_truth > 0 {
            self.warnings.push(format!(
                "{} of {} records have no gold turn in the data set; the gold-turn counts leave them out",
                counts.without_ground_truth, counts.n
            ));
        }
        self
    }
}
