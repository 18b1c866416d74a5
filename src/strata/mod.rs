//! Plans: which cases an audit wants. Reads a strata file, binds its roles to runs and says which stratum owns a case.
//!
//! A plan is TOML:
//!
//! ```toml
//! id = "example"
//! title = "Failures of one model, and what a probe changed"
//! seed = "audit-1"              # optional
//! allocation = "fixed"          # or "proportional", "equal", "neyman" with `total` and, if wanted, `minimum`
//!
//! [roles]                       # what users bind runs to
//! model = "the model without the probe"
//! probed = "the same model with it"
//! [runs]                        # default bindings
//! model = "my-run"
//! [pairs]                       # baseline role = role of the second condition; transitions are read between them
//! model = "probed"
//!
//! [[stratum]]
//! id = "A"
//! title = "fails on missing functions"
//! quota = 20
//! priority = 0                  # lower is asked first; equal ones in file order
//! optional = false              # may it be empty?
//! # keys of one table must all hold; lists mean "one of"; `all`, `any` and `not` nest
//! filter = { run = "model", category = "miss_func", verdict = "FAIL", not = { error_record = true } }
//! where = "turns > 3"           # optional SQL, evaluated by the store
//!
//! [[cells]]                     # one stratum per combination
//! id = "cell"
//! title = "every kind of case"
//! run = "model"
//! by = ["category", "verdict", "gar"]
//! quota = 3
//! ```
//!
//! Filter keys: `run`, `model`, `condition`, `category`, `verdict` (`PASS`, `FAIL`, `UNSCORED`), `transition`
//! (`PASS_to_FAIL`, …), `gar` (any turn, rule set `paper`), `error_record`, `all`, `any`, `not`.

mod assign;
mod bind;
mod bundled;
mod cells;
mod error;
mod filter;
mod frame_case;
mod matcher;
mod parse;
mod plan;
mod predicate;
mod raw;
mod role;
#[cfg(test)]
mod tests;

pub use assign::{Assigner, MissingSqlMatches, SqlMatches};
pub(crate) use bind::unbound_reason;
pub use bind::{BindError, BoundPlan, BoundStratum, bind, bind_known};
pub use bundled::{BUNDLED, bundled};
pub use error::{PlanError, Problem};
pub use frame_case::FrameCase;
pub use matcher::Matcher;
pub use plan::{Method, Plan, Stratum};
pub use predicate::Predicate;
pub(crate) use predicate::verdict_word;
pub use role::{Role, RoleError};
