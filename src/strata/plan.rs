//! A plan: its strata with quotas, the roles that users bind to runs, and the digest that pins it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Predicate, Role};
use crate::digest::Canonical;
use crate::model::{RunName, Seed, StratumId};

/// How the sample is shared out between the strata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Every stratum names its quota.
    #[default]
    Fixed,
    /// In proportion to the population: n_h ∝ N_h.
    Proportional,
    /// The same number for every stratum.
    Equal,
    /// In proportion to population times standard deviation: n_h ∝ N_h·S_h (Neyman 1934).
    Neyman,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 4] = [Self::Fixed, Self::Proportional, Self::Equal, Self::Neyman];

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Proportional => "proportional",
            Self::Equal => "equal",
            Self::Neyman => "neyman",
        }
    }

    /// Reads the written form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One stratum of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Stratum {
    /// Short name, unique in the plan.
    pub id: StratumId,
    /// Title for people.
    pub title: String,
    /// Cases wanted; present exactly where the plan's method is [`Method::Fixed`].
    pub quota: Option<u64>,
    /// Fewest cases that a computed allocation gives it; overrides the plan's.
    pub minimum: Option<u64>,
    /// A guess of the share of cases with the finding, strictly between 0 and 1, for [`Method::Neyman`].
    pub rate_guess: Option<f64>,
    /// A lower number is asked first when a case fits several strata; equal numbers go by place in the file.
    pub priority: i64,
    /// May the stratum have no case at all? (Cells may; written strata must say so.)
    pub optional: bool,
    /// Which cases it wants.
    pub filter: Predicate<Role>,
    /// A further condition in SQL, evaluated by the store; a case must meet both.
    pub where_sql: Option<String>,
}

/// A parsed and checked plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Short name.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// The seed, where the plan fixes one.
    pub seed: Option<Seed>,
    /// How the sample is shared out.
    pub method: Method,
    /// Cases to share; present exactly where the method is computed.
    pub total: Option<u64>,
    /// Fewest cases per stratum of a computed allocation.
    pub minimum: Option<u64>,
    /// Every role with what it stands for (empty where the plan does not say).
    pub roles: BTreeMap<Role, String>,
    /// The runs that roles are bound to unless the user says otherwise.
    pub runs: BTreeMap<Role, RunName>,
    /// Baseline role → role of the second condition; transitions are read between the two.
    pub pairs: BTreeMap<Role, Role>,
    /// The strata in the order of the file.
    pub strata: Vec<Stratum>,
}

impl Plan {
    /// SHA-256 of the plan's canonical bytes: equal for two files that differ in layout, comments or spelling only.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut out = Canonical::new("plan-1")
            .text(&self.id)
            .text(&self.title)
            .optional(self.seed.as_ref().map(Seed::as_str))
            .text(self.method.as_str())
            .optional(digits(self.total).as_deref())
            .optional(digits(self.minimum).as_deref());
        out = out.number(self.roles.len() as u64);
        for (role, meaning) in &self.roles {
            out = out.text(role.as_str()).text(meaning);
        }
        out = out.number(self.runs.len() as u64);
        for (role, run) in &self.runs {
            out = out.text(role.as_str()).text(run.as_str());
        }
        out = out.number(self.pairs.len() as u64);
        for (first, second) in &self.pairs {
            out = out.text(first.as_str()).text(second.as_str());
        }
        out = out.number(self.strata.len() as u64);
        for stratum in &self.strata {
            out = out
                .text(stratum.id.as_str())
                .text(&stratum.title)
                .optional(digits(stratum.quota).as_deref())
                .optional(digits(stratum.minimum).as_deref())
                .optional(stratum.rate_guess.map(|rate| rate.to_string()).as_deref())
                .text(&stratum.priority.to_string())
                .text(if stratum.optional { "optional" } else { "required" })
                .optional(stratum.where_sql.as_deref());
            stratum.filter.write(&mut out);
        }
        out.finish()
    }

    /// The stratum of an id.
    #[must_use]
    pub fn stratum(&self, id: &StratumId) -> Option<&Stratum> {
        self.strata.iter().find(|stratum| stratum.id == *id)
    }
}

fn digits(value: Option<u64>) -> Option<String> {
    value.map(|number| number.to_string())
}
