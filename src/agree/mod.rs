//! Agreement between raters: tables in, values with intervals out.
//!
//! Pure: no files, no clock, no entropy; the seed of a bootstrap is an argument. A measure that cannot be computed is
//! `None` together with an [`Undefined`] reason, never NaN and never a silent 1. The published study's own
//! conventions, which differ, are in [`paper`] under their own names.

pub mod bootstrap;
mod draws;
pub mod kappa;
mod label;
pub mod pairs;
pub mod paper;
pub mod percent;
pub mod sides;
mod table;
mod undefined;

pub use label::{BootstrapInterval, LabelAgreement, Options, label_agreement, label_agreements};
pub use pairs::{LeftOut, NaPolicy};
pub use table::{Table, TableError};
pub use undefined::Undefined;

/// The 97.5 % quantile of the standard normal distribution, to double precision.
pub const Z95: f64 = 1.959_963_984_540_054;
