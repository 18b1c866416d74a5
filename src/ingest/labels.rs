//! Audits made elsewhere: labels of two raters with adjudications and spot checks, one case a JSON line.
//!
//! Two forms are read: the study's full records (`rater_a`, `rater_b`, `adjudication`, `spot_check`, values with
//! rationales) and the values-only form (`a`, `b`, `adj`, `spot`). Nothing is stored unless every line is sound.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::{LineReader, Oddities, parse_object};
use crate::error::{Error, Place, Result};
use crate::model::{CaseIdentity, Category, LabelId, RaterName, RatingValue, StratumId, Transition, Verdict};
use crate::rubric::{Label, Rubric, check_value};
use crate::store::{Act, NewBatchCase, NewBatchStratum, NewRating};

/// Names under which the three raters are stored.
pub struct RaterNames {
    /// First rater.
    pub a: RaterName,
    /// Second rater.
    pub b: RaterName,
    /// Adjudicator.
    pub adjudicator: RaterName,
}

/// An audit, read and checked.
pub struct ImportedAudit {
    /// Its strata in alphabetic order.
    pub strata: Vec<NewBatchStratum>,
    /// Its cases in file order.
    pub cases: Vec<NewBatchCase>,
    /// Ratings, rulings and spot checks.
    pub entries: Vec<NewRating>,
    /// Disagreements without a ruling.
    pub open_disagreements: u64,
    /// Cases that carry final values, which were found to follow from ratings and rulings.
    pub finals_checked: u64,
    /// Records of other splits that were left out.
    pub other_splits: BTreeMap<String, u64>,
    /// SHA-256 of the file.
    pub sha256: String,
}

#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    split: Option<String>,
    case_id: String,
    model: String,
    category: String,
    stratum: String,
    #[serde(default)]
    transition: Option<String>,
    #[serde(default)]
    baseline: Option<String>,
    #[serde(alias = "rater_a")]
    a: BTreeMap<String, Value>,
    #[serde(alias = "rater_b")]
    b: BTreeMap<String, Value>,
    #[serde(default, alias = "adjudication")]
    adj: Option<BTreeMap<String, Value>>,
    #[serde(default, alias = "spot_check")]
    spot: Option<BTreeMap<String, Value>>,
    #[serde(default, rename = "final")]
    finals: Option<BTreeMap<String, Value>>,
}

type Answer = (RatingValue, String);

/// Reads one split of a label file under a rubric. `split`: which one; `None` where the file has only one.
///
/// # Errors
/// A line that cannot be read, unknown labels or values, a ruling where nobody disagreed, finals that do not follow, a
/// case that is there twice, several splits and none chosen. All problems are listed.
pub fn read_labels(path: &Path, split: Option<&str>, rubric: &Rubric, names: &RaterNames) -> Result<ImportedAudit> {
    let mut reader = LineReader::open(path)?;
    let mut oddities = Oddities::default();
    let mut records: Vec<(u64, Record)> = Vec::new();
    while let Some(line) = reader.next_line(&mut oddities)? {
        let record = parse_object(line.text).map_err(|error| {
            Error::data(format!("not a label record: {error}"))
                .at(Place { file: path.to_path_buf(), line: Some(line.number), column: Some(error.column() as u64) })
                .hint("expected case_id, model, category, stratum, and the two raters' labels under rater_a/rater_b or a/b")
        })?;
        records.push((line.number, record));
    }
    let (sha256, _) = reader.finish()?;
    let chosen = choose_split(path, split, &records)?;
    let mut other_splits = BTreeMap::new();
    let mut audit = ImportedAudit {
        strata: Vec::new(),
        cases: Vec::new(),
        entries: Vec::new(),
        open_disagreements: 0,
        finals_checked: 0,
        other_splits: BTreeMap::new(),
        sha256,
    };
    let source = format!("{} (sha256 {})", path.display(), audit.sha256);
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for (line, record) in &records {
        let name = record.split.clone().unwrap_or_default();
        if chosen.as_ref().is_some_and(|chosen| *chosen != name) {
            *other_splits.entry(name).or_insert(0) += 1;
            continue;
        }
        let mut builder = CaseBuilder { rubric, names, source: &source, audit: &mut audit };
        if let Err(message) = builder.add(record, &mut seen) {
            problems.push(format!("{}:{line}: {message}", path.display()));
        }
    }
    if !problems.is_empty() {
        let count = problems.len();
        let mut listed = problems;
        listed.truncate(20);
        return Err(Error::data(format!("{count} records cannot be taken over:\n{}", listed.join("\n")))
            .at(Place::file(path))
            .hint("nothing was stored; repair the records or name the rubric they were made under with --rubric"));
    }
    if audit.cases.is_empty() {
        return Err(Error::data("no label records").at(Place::file(path)));
    }
    audit.other_splits = other_splits;
    audit.strata = strata(&audit.cases);
    Ok(audit)
}

fn choose_split(path: &Path, split: Option<&str>, records: &[(u64, Record)]) -> Result<Option<String>> {
    let known: BTreeSet<&str> = records.iter().map(|(_, record)| record.split.as_deref().unwrap_or("")).collect();
    match split {
        Some(wanted) if known.contains(wanted) => Ok(Some(wanted.to_owned())),
        Some(wanted) => Err(Error::not_found(format!(
            "no record of split {wanted:?}; the file has {}",
            known.into_iter().collect::<Vec<_>>().join(", ")
        ))
        .at(Place::file(path))),
        None if known.len() > 1 => Err(Error::usage(format!(
            "the file has several splits: {}",
            known.into_iter().collect::<Vec<_>>().join(", ")
        ))
        .at(Place::file(path))
        .hint("take them over one by one, each as a batch of its own: --split main")),
        None => Ok(None),
    }
}

fn strata(cases: &[NewBatchCase]) -> Vec<NewBatchStratum> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for case in cases {
        *counts.entry(&case.stratum).or_insert(0) += 1;
    }
    counts
        .into_iter()
        .map(|(id, drawn)| NewBatchStratum {
            id: id.to_owned(),
            title: format!("stratum {id} of the audit made elsewhere"),
            population: None,
            excluded: 0,
            quota: None,
            drawn,
            shortfall: 0,
            overlap: 0,
        })
        .collect()
}

struct CaseBuilder<'a> {
    rubric: &'a Rubric,
    names: &'a RaterNames,
    source: &'a str,
    audit: &'a mut ImportedAudit,
}

impl CaseBuilder<'_> {
    fn add(&mut self, record: &Record, seen: &mut BTreeSet<CaseIdentity>) -> std::result::Result<(), String> {
        let case = CaseIdentity::published(&record.model, &record.case_id).map_err(|error| error.to_string())?;
        let category =
            Category::parse(&record.category).ok_or_else(|| format!("unknown category {:?}", record.category))?;
        StratumId::parse(&record.stratum).map_err(|error| error.to_string())?;
        let transition = match record.transition.as_deref() {
            None => None,
            Some(text) => Some(Transition::parse(text).ok_or_else(|| format!("unknown transition {text:?}"))?),
        };
        let verdict = match record.baseline.as_deref() {
            None => transition.map(|transition| transition.from),
            Some(text) => Some(Verdict::parse(text).ok_or_else(|| format!("unknown baseline verdict {text:?}"))?),
        };
        if transition.is_some_and(|transition| Some(transition.from) != verdict) {
            return Err("the transition and the baseline verdict contradict each other".to_owned());
        }
        if !seen.insert(case.clone()) {
            return Err(format!("{case} is there twice"));
        }
        let first = self.answers(&record.a)?;
        let second = self.answers(&record.b)?;
        let rulings = record.adj.as_ref().map(|map| self.answers(map)).transpose()?.unwrap_or_default();
        for label in rulings.keys() {
            let (a, b) = (first.get(label).map(|answer| &answer.0), second.get(label).map(|answer| &answer.0));
            if a == b {
                return Err(format!("{label} has a ruling, but the raters agree on it"));
            }
        }
        let spots = self.spot_checks(record, &first, &second)?;
        let mut entries = Vec::new();
        for label in &self.rubric.labels {
            let (a, b) = (first.get(&label.id), second.get(&label.id));
            for (rater, answer) in [(&self.names.a, a), (&self.names.b, b)] {
                if let Some((value, rationale)) = answer {
                    entries.push(self.entry(Act::Rating, &case, label, rater, (value, None, rationale)));
                }
            }
            if let Some((value, note)) = rulings.get(&label.id) {
                entries.push(self.entry(Act::Ruling, &case, label, &self.names.adjudicator, (value, None, note)));
            } else if let (Some(a), Some(b)) = (a, b)
                && a.0 != b.0
            {
                self.audit.open_disagreements += 1;
            }
            if let Some((value, correct, note)) = spots.get(&label.id) {
                let check = (value, Some(*correct), note.as_str());
                entries.push(self.entry(Act::SpotCheck, &case, label, &self.names.adjudicator, check));
            }
        }
        if let Some(finals) = &record.finals {
            self.check_finals(finals, &first, &second, &rulings, &spots)?;
            self.audit.finals_checked += 1;
        }
        self.audit.entries.extend(entries);
        self.audit.cases.push(NewBatchCase {
            identity: case,
            stratum: record.stratum.clone(),
            model: record.model.clone(),
            category: category.as_str().to_owned(),
            transition: transition.map(|transition| transition.to_string()),
            verdict: verdict.map(|verdict| verdict.as_str().to_owned()),
            second_run: None,
            ticket: None,
            probability: None,
            unconditional: None,
            unconditional_reason: None,
        });
        Ok(())
    }

    fn entry(
        &self,
        act: Act,
        case: &CaseIdentity,
        label: &Label,
        rater: &RaterName,
        (value, correct, rationale): (&RatingValue, Option<bool>, &str),
    ) -> NewRating {
        NewRating {
            act,
            case: case.clone(),
            label: label.id.clone(),
            rater: rater.clone(),
            value: value.clone(),
            correct,
            rationale: rationale.to_owned(),
            case_digest: None,
            source: self.source.to_owned(),
        }
    }

    fn label(&self, name: &str) -> std::result::Result<&Label, String> {
        let id = LabelId::parse(name).map_err(|error| error.to_string())?;
        self.rubric.label(&id).ok_or_else(|| format!("rubric {} has no label {name}", self.rubric.id))
    }

    /// Label → (value, rationale); a value may stand bare or as `{value, rationale|note}`.
    fn answers(&self, map: &BTreeMap<String, Value>) -> std::result::Result<BTreeMap<LabelId, Answer>, String> {
        let mut answers = BTreeMap::new();
        for (name, value) in map {
            let label = self.label(name)?;
            let (value, rationale) = match value {
                Value::Object(fields) => {
                    let note = fields.get("rationale").or_else(|| fields.get("note")).and_then(Value::as_str);
                    (fields.get("value").unwrap_or(&Value::Null), note.unwrap_or(""))
                }
                bare => (bare, ""),
            };
            if let Some(value) = parse_value(label, value)? {
                answers.insert(label.id.clone(), (value, rationale.to_owned()));
            }
        }
        Ok(answers)
    }

    /// Label → (value, correct, note).
    fn spot_checks(
        &self,
        record: &Record,
        first: &BTreeMap<LabelId, Answer>,
        second: &BTreeMap<LabelId, Answer>,
    ) -> std::result::Result<BTreeMap<LabelId, (RatingValue, bool, String)>, String> {
        let mut checks = BTreeMap::new();
        for (name, check) in record.spot.iter().flatten() {
            let label = self.label(name)?;
            let agreed = match (first.get(&label.id), second.get(&label.id)) {
                (Some(a), Some(b)) if a.0 == b.0 => a.0.clone(),
                // The values-only form lists every label of a spot-checked case; a disagreement has its ruling instead.
                _ => continue,
            };
            let (value, correct, note) = match check {
                Value::Null => continue,
                Value::Object(fields) => {
                    let value = parse_value(label, fields.get("value").unwrap_or(&Value::Null))?;
                    let correct = fields.get("correct").map_or(Ok(true), |flag| truth(flag, name))?;
                    let note = fields.get("note").and_then(Value::as_str).unwrap_or("").to_owned();
                    (value.unwrap_or_else(|| agreed.clone()), correct, note)
                }
                flag => (agreed.clone(), truth(flag, name)?, String::new()),
            };
            if correct && value != agreed {
                return Err(format!("the spot check of {name} calls {agreed} correct and gives {value}"));
            }
            checks.insert(label.id.clone(), (value, correct, note));
        }
        Ok(checks)
    }

    fn check_finals(
        &self,
        finals: &BTreeMap<String, Value>,
        first: &BTreeMap<LabelId, Answer>,
        second: &BTreeMap<LabelId, Answer>,
        rulings: &BTreeMap<LabelId, Answer>,
        spots: &BTreeMap<LabelId, (RatingValue, bool, String)>,
    ) -> std::result::Result<(), String> {
        for (name, value) in finals {
            let label = self.label(name)?;
            let stated = parse_value(label, value)?;
            let follows = match (first.get(&label.id), second.get(&label.id)) {
                (Some(a), Some(b)) if a.0 == b.0 => match spots.get(&label.id) {
                    Some((checked, false, _)) => Some(checked.clone()),
                    _ => Some(a.0.clone()),
                },
                _ => rulings.get(&label.id).map(|ruling| ruling.0.clone()),
            };
            if stated != follows {
                let show =
                    |value: &Option<RatingValue>| value.as_ref().map_or("nothing".to_owned(), ToString::to_string);
                return Err(format!(
                    "the final value of {name} is {}, but ratings and rulings give {}",
                    show(&stated),
                    show(&follows)
                ));
            }
        }
        Ok(())
    }
}

fn truth(flag: &Value, name: &str) -> std::result::Result<bool, String> {
    match flag {
        Value::Bool(truth) => Ok(*truth),
        Value::Number(number) if number.as_u64() == Some(1) => Ok(true),
        Value::Number(number) if number.as_u64() == Some(0) => Ok(false),
        other => Err(format!("the spot check of {name} is true or false, not {other}")),
    }
}

fn parse_value(label: &Label, value: &Value) -> std::result::Result<Option<RatingValue>, String> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => return Err(format!("{} cannot be {other}", label.id)),
    };
    check_value(label, &text).map(|answer| answer.value).map_err(|error| error.to_string())
}
