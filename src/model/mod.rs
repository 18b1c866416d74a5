//! The words of the field as types: runs, cases, emissions, verdicts, ratings, batches. Values that cannot be wrong.

mod action_class;
mod audit;
mod case;
mod ids;
mod rating;
mod section;
mod verdict;

pub use action_class::ActionClass;
pub use audit::{Adjudication, Audit, AuditCase, AuditStratum, NoVerdict, SpotCheck};
pub use case::{CaseText, Category, ConditionText, GroundTruth, TurnText};
pub use ids::{BatchName, CaseIdentity, IdError, LabelId, RaterName, RunName, Seed, StratumId};
pub use rating::{RaterKind, Rating, RatingValue};
pub use section::{Section, SectionEntry, SectionKind};
pub use verdict::{Transition, Verdict};
