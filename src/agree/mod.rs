//! Agreement between raters: tables in, values with intervals out.
//!
//! Pure: no files, no clock, no entropy; the seed of a bootstrap is an argument. A measure that cannot be computed is
//! `None` together with an [`Undefined`] reason, never NaN and never a silent 1. The published study's own
//! conventions, which differ, are in [`paper`] under their own names.

mod across;
mod alias;
pub mod alpha;
pub mod bootstrap;
pub mod chance;
mod coefficient;
pub mod diagnose;
pub(crate) mod draws;
pub mod family;
pub mod fleiss;
pub mod independence;
pub mod indices;
pub mod jackknife;
pub mod kappa;
mod label;
pub mod many;
pub mod margins;
pub mod measures;
pub mod nonresponse;
pub mod pairs;
pub mod panel;
pub mod paper;
pub mod percent;
pub mod pooled;
#[cfg(test)]
mod properties;
pub mod ratings;
pub mod remarks;
pub mod sides;
pub mod summary;
mod summary_rows;
mod table;
pub mod tails;
mod undefined;
pub mod weighted;
mod weights;

pub use across::{AcrossRow, across, across_options};
pub use coefficient::Coefficient;
pub use label::{FamilyInterval, LabelAgreement, Options, label_agreement, label_agreements};
pub use measures::{BootstrapInterval, Measures, TwoRaters, two_raters};
pub use pairs::{LeftOut, NaPolicy};
pub(crate) use panel::natural_numbers;
pub use panel::{Counts, Panel, PanelError};
pub use table::{Table, TableError};
pub use undefined::Undefined;
pub use weights::{Scheme, Weights, WeightsError};

/// The 97.5 % quantile of the standard normal distribution, to double precision.
pub const Z95: f64 = 1.959_963_984_540_054;
