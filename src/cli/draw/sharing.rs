//! The options that say how a sample is shared out, over what the plan says; and what a pilot found.

use std::collections::BTreeMap;

use super::request::Setting;
use crate::error::{Error, Result};
use crate::model::{AuditCase, BatchName, LabelId, RatingValue, StratumId};
use crate::rubric::LabelKind;
use crate::sample::{PilotCount, Sharing};
use crate::store::Store;
use crate::strata::{Matcher, Method, Plan};

/// Options of a draw that say how many cases each stratum gets.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "How the sample is shared out")]
pub struct SharingArgs {
    /// How the strata get their numbers, instead of the plan's own way: fixed, proportional, equal or neyman
    #[arg(long, value_name = "METHOD", value_parser = method)]
    pub allocation: Option<Method>,
    /// Cases to share between the strata (for an extension: all cases, old and new)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub total: Option<u64>,
    /// Fewest cases a stratum gets, if it has them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub minimum: Option<u64>,
    /// A stratum's number instead of the plan's (may be repeated)
    #[arg(long, value_name = "STRATUM=N")]
    pub quota: Vec<String>,
    /// neyman: an earlier batch whose ratings say how much a label varies; its cases are not drawn again
    #[arg(long, value_name = "BATCH", requires = "label")]
    pub pilot: Option<BatchName>,
    /// neyman: the label of the pilot
    #[arg(long, value_name = "LABEL", requires = "pilot")]
    pub label: Option<LabelId>,
    /// neyman: a guess of a stratum's share of cases with the finding, for example A=0.1 (may be repeated)
    #[arg(long, value_name = "STRATUM=SHARE")]
    pub guess: Vec<String>,
}

fn method(text: &str) -> std::result::Result<Method, String> {
    let known = Method::ALL.map(Method::as_str).join(", ");
    Method::parse(&text.to_ascii_lowercase()).ok_or_else(|| format!("use one of: {known}"))
}

impl SharingArgs {
    /// Says nothing over the plan?
    pub(super) fn is_empty(&self) -> bool {
        self.allocation.is_none()
            && self.total.is_none()
            && self.minimum.is_none()
            && self.quota.is_empty()
            && self.pilot.is_none()
            && self.guess.is_empty()
    }

    /// The sharing: these options over `base`. Options that the method does not use are refused, never dropped.
    pub(in crate::cli) fn over(&self, base: Sharing) -> Result<(Sharing, Option<PilotChoice>)> {
        let mut sharing = base;
        sharing.method = self.allocation.unwrap_or(sharing.method);
        sharing.total = self.total.or(sharing.total);
        sharing.minimum = self.minimum.or(sharing.minimum);
        for (stratum, number) in stratum_values(&self.quota, "--quota", "A=40", |text| text.parse::<u64>().ok())? {
            sharing.quotas.insert(stratum, number);
        }
        for (stratum, share) in stratum_values(&self.guess, "--guess", "A=0.1", |text| text.parse::<f64>().ok())? {
            sharing.guesses.insert(stratum, share);
        }
        let pilot = self.pilot.clone().zip(self.label.clone()).map(|(batch, label)| PilotChoice { batch, label });
        let method = sharing.method;
        let meaningless = |option: &str| {
            Err(Error::usage(format!("{option} has no meaning under the allocation {method}")).hint(match option {
                "--quota" => "--allocation fixed takes the numbers as they are; --total shares",
                "--total" | "--minimum" => "say how to share: --allocation proportional, equal or neyman",
                _ => "only --allocation neyman looks at how much a finding varies",
            }))
        };
        if method == Method::Fixed {
            if self.total.is_some() {
                return meaningless("--total");
            }
            if self.minimum.is_some() {
                return meaningless("--minimum");
            }
            sharing.total = None;
        } else if !self.quota.is_empty() {
            return meaningless("--quota");
        }
        if method != Method::Neyman {
            if pilot.is_some() {
                return meaningless("--pilot");
            }
            if !self.guess.is_empty() {
                return meaningless("--guess");
            }
        }
        Ok((sharing, pilot))
    }
}

/// Reads `STRATUM=VALUE` options; a stratum may be named once. The last `=` divides: names may hold one.
fn stratum_values<T>(
    texts: &[String],
    option: &str,
    example: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<BTreeMap<StratumId, T>> {
    let mut values = BTreeMap::new();
    for text in texts {
        let wrong =
            || Error::usage(format!("{option} {text}: expected STRATUM=VALUE")).hint(format!("{option} {example}"));
        let (name, value) = text.rsplit_once('=').ok_or_else(wrong)?;
        let stratum = StratumId::parse(name).map_err(|error| Error::usage(format!("{option} {text}: {error}")))?;
        let value = read(value).ok_or_else(wrong)?;
        if values.insert(stratum, value).is_some() {
            return Err(Error::usage(format!("{option} names stratum {name} twice")));
        }
    }
    Ok(values)
}

/// A pilot and the label whose spread is wanted.
#[derive(Debug, Clone)]
pub(in crate::cli) struct PilotChoice {
    pub batch: BatchName,
    pub label: LabelId,
}

/// What a pilot says.
#[derive(Debug, Clone)]
pub(in crate::cli) struct PilotUse {
    pub choice: PilotChoice,
    /// Per stratum of the plan that is to be drawn.
    pub counts: BTreeMap<StratumId, PilotCount>,
    /// Cases of the pilot that say nothing, and why.
    pub left_out: BTreeMap<&'static str, u64>,
}

impl PilotChoice {
    /// Counts the pilot's values in the strata of the plan that is to be drawn, whatever strata it was drawn from.
    pub(in crate::cli) fn count(&self, store: &Store, setting: &Setting) -> Result<PilotUse> {
        let (info, rubric) = super::super::Context::batch(store, &self.batch)?;
        let binary: Vec<&str> = rubric
            .labels
            .iter()
            .filter(|label| label.kind == LabelKind::Binary)
            .map(|label| label.id.as_str())
            .collect();
        if !binary.contains(&self.label.as_str()) {
            return Err(Error::not_found(format!("batch {} has no yes-or-no label {}", self.batch, self.label))
                .hint(format!("its labels of that kind: {}", binary.join(", "))));
        }
        let audit = store.audit(&info, rubric.labels.iter().map(|label| label.id.clone()).collect())?;
        let assigner = setting.assigner()?;
        let mut matcher = Matcher::new(&assigner);
        let frame: BTreeMap<_, _> = setting.frame.iter().map(|case| (&case.identity, case)).collect();
        let mut counts: BTreeMap<StratumId, PilotCount> = BTreeMap::new();
        let mut left_out: BTreeMap<&'static str, u64> = BTreeMap::new();
        for case in &audit.cases {
            let owner = frame
                .get(&case.case)
                .and_then(|case| matcher.matching(case).first().copied())
                .and_then(|index| setting.bound.plan().strata.get(index));
            match (owner, value(case, audit.pair.as_ref(), &self.label)) {
                (None, _) => *left_out.entry("in no stratum of this plan").or_default() += 1,
                (_, Err(reason)) => *left_out.entry(reason).or_default() += 1,
                (Some(stratum), Ok(one)) => {
                    let count = counts.entry(stratum.id.clone()).or_default();
                    count.rated += 1;
                    count.ones += u64::from(one);
                }
            }
        }
        if counts.is_empty() {
            let reasons: Vec<String> = left_out.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
            return Err(Error::data(format!(
                "batch {} says nothing about {}: {}",
                self.batch,
                self.label,
                reasons.join(", ")
            ))
            .hint("rate it first, or guess the shares: --guess STRATUM=SHARE"));
        }
        Ok(PilotUse { choice: self.clone(), counts, left_out })
    }
}

/// The value of a case: final where there is one, else what all who rated it say.
fn value(
    case: &AuditCase,
    pair: Option<&(crate::model::RaterName, crate::model::RaterName)>,
    label: &LabelId,
) -> std::result::Result<bool, &'static str> {
    let settled = pair.and_then(|(first, second)| case.final_value((first, second), label));
    let found = match settled {
        Some(value) => value,
        None => {
            let given: Vec<&RatingValue> = match pair {
                Some((a, b)) => [a, b].into_iter().filter_map(|rater| case.value(rater, label)).collect(),
                None => case.ratings.values().filter_map(|own| own.get(label)).map(|rating| &rating.value).collect(),
            };
            let first = *given.first().ok_or("not rated")?;
            if given.iter().any(|value| *value != first) {
                return Err("rated differently and not ruled on");
            }
            first
        }
    };
    match found {
        RatingValue::Value(text) => Ok(text == "1"),
        RatingValue::NotApplicable => Err("not applicable"),
        RatingValue::CannotJudge => Err("not judged"),
    }
}

/// The sharing as it is stored with a round.
pub(super) fn record(sharing: &Sharing, pilot: Option<&PilotUse>) -> serde_json::Value {
    let mut out = serde_json::Map::new();
    out.insert("method".into(), sharing.method.as_str().into());
    let mut number = |key: &str, value: Option<u64>| value.map(|value| out.insert(key.into(), value.into()));
    number("total", sharing.total);
    number("minimum", sharing.minimum);
    let object = |pairs: Vec<(&StratumId, serde_json::Value)>| -> serde_json::Value {
        pairs.into_iter().map(|(stratum, value)| (stratum.to_string(), value)).collect::<serde_json::Map<_, _>>().into()
    };
    if !sharing.quotas.is_empty() {
        out.insert("quotas".into(), object(sharing.quotas.iter().map(|(id, quota)| (id, (*quota).into())).collect()));
    }
    if !sharing.guesses.is_empty() {
        out.insert("guesses".into(), object(sharing.guesses.iter().map(|(id, rate)| (id, (*rate).into())).collect()));
    }
    if let Some(pilot) = pilot {
        out.insert("pilot".into(), pilot.choice.batch.as_str().into());
        out.insert("label".into(), pilot.choice.label.as_str().into());
        let counts = pilot
            .counts
            .iter()
            .map(|(id, count)| (id, serde_json::json!({ "rated": count.rated, "ones": count.ones })));
        out.insert("pilot_counts".into(), object(counts.collect()));
    }
    out.into()
}

/// The sharing in one line.
pub(super) fn describe(sharing: &Sharing, plan: &Plan, pilot: Option<&PilotUse>) -> String {
    let mut text = sharing.method.to_string();
    match (sharing.method, sharing.total) {
        (Method::Fixed, _) if sharing.quotas.is_empty() => text.push_str(": the plan's quotas"),
        (Method::Fixed, _) => {
            let own: Vec<String> = sharing.quotas.iter().map(|(id, quota)| format!("{id}={quota}")).collect();
            text.push_str(&format!(": {}", own.join(" ")));
        }
        (_, Some(total)) => text.push_str(&format!(": {total} cases")),
        (_, None) => {}
    }
    if sharing.method != Method::Fixed {
        if let Some(minimum) = sharing.minimum.or(plan.minimum) {
            text.push_str(&format!(", at least {minimum} a stratum"));
        } else if sharing.method == Method::Neyman {
            text.push_str(", at least 2 a stratum");
        }
    }
    if let Some(pilot) = pilot {
        text.push_str(&format!(", by {} in pilot {}", pilot.choice.label, pilot.choice.batch));
    }
    if !sharing.guesses.is_empty() {
        let guesses: Vec<String> = sharing.guesses.iter().map(|(id, rate)| format!("{id}={rate}")).collect();
        text.push_str(&format!(", guesses {}", guesses.join(" ")));
    }
    text
}
