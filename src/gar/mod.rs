//! Gold Action Recall: per cell (run × category) the share of cases that emit the gold action, beside the benchmark's own
//! accuracy, with their joint table, the paired difference Δ and what it says.
//!
//! Facts about cases go in, rows come out; nothing here reads a file.

mod cell;
#[cfg(test)]
mod cell_tests;
mod diagnosis;
mod evidence;
mod explain;
mod facts;
mod families;
mod gold_turn;
mod mechanical;
mod metric;
mod repeats;
mod row;
mod size;
mod window;

pub use cell::cell;
pub use diagnosis::Diagnosis;
pub use evidence::{CaseEmissions, paper_turns, strict_turns};
pub use explain::{CaseChange, CellDiff, ExplainRow, RuleChange, diff, explain};
pub use facts::{CaseFacts, CellInput, has_text};
pub use families::{Components, FamilyMeasure, FamilyRow, FamilySpread, ModelTable, families};
pub use gold_turn::{
    CaseGoldTurn, GoldTurnCase, GoldTurnCell, TurnFacts, TurnRecount, case_gold_turn, gold_turn, gold_turn_cell,
};
pub use mechanical::{
    CaseEvidence, MechanicalAnswer, RubricVersion, View, b1a, b1b, b3_after_return, b3_while_absent,
    b4_before_any_call, b4_up_to_gold_turn, b5, mechanical,
};
pub use metric::{metric_hit, metric_reading};
pub use repeats::{RepeatRow, repeats};
pub use row::{GarRow, Joint};
pub use size::{SizeEffect, SizeSlope, size_effect};
pub use window::{gold_window, strict_cell, strict_hit};
