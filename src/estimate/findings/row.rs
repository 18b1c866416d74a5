//! One row of the findings: a cell, a model or the whole frame.

use std::collections::BTreeMap;

use super::Input;
use super::case::{AuditedCase, Cell, Frame, FrameGroup, Reach};
use super::measures::{Confusion, Corrected, DifferenceMore, Estimate, Measures, RoganGladenMore, SampleRate};
use crate::estimate::difference::{self, DifferenceEstimate, PairedPart};
use crate::estimate::rogan_gladen::{self, LimitedAccuracy, RoganGladen};
use crate::estimate::weighted::{Part, weighted_rate};
use crate::estimate::{Method, proportion};
use crate::model::{Category, StratumId, Verdict};

pub(super) const LEVEL: f64 = 0.95;

/// A stratum's cases inside a row.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    part: Part,
    hits: u64,
    unknown: u64,
    confusion: Confusion,
    not_applicable: u64,
}

struct Row<'a> {
    input: &'a Input,
    groups: Vec<&'a FrameGroup>,
    cases: Vec<&'a AuditedCase>,
    cell: String,
    run: Option<String>,
    model: Option<String>,
    category: Option<Category>,
    pooled_over: Vec<String>,
}

pub(super) fn cell(input: &Input, cell: &Cell) -> Estimate {
    let row = Row::new(input, cell.name(), |found| found == cell);
    Row { run: cell.run.clone(), model: Some(cell.model.clone()), category: Some(cell.category), ..row }.estimate()
}

pub(super) fn model(input: &Input, model: &str, run: Option<&str>) -> Estimate {
    let name = run.unwrap_or(model).to_owned();
    let row = Row::new(input, name, |found| found.model == model && found.run.as_deref() == run);
    Row { run: run.map(str::to_owned), model: Some(model.to_owned()), ..row }.estimate()
}

pub(super) fn overall(input: &Input, models: &[(String, Option<String>)]) -> Estimate {
    let names: Vec<String> = models.iter().map(|(model, run)| run.as_ref().unwrap_or(model).clone()).collect();
    let pooled_over = if names.len() > 1 { names } else { Vec::new() };
    Row { pooled_over, ..Row::new(input, "all".to_owned(), |_| true) }.estimate()
}

impl<'a> Row<'a> {
    fn new(input: &'a Input, cell: String, keep: impl Fn(&Cell) -> bool) -> Self {
        let groups = match &input.frame {
            // What has no usable id is a copy or a defect of the file, no case of the benchmark.
            Frame::Known { groups } => {
                groups.iter().filter(|group| keep(&group.cell) && group.reach != Reach::Undrawable).collect()
            }
            Frame::Unknown { .. } => Vec::new(),
        };
        let cases = input.cases.iter().filter(|case| keep(&case.cell)).collect();
        Self { input, groups, cases, cell, run: None, model: None, category: None, pooled_over: Vec::new() }
    }

    fn estimate(self) -> Estimate {
        let (n, k) = self.counts();
        let sample = SampleRate {
            k,
            n,
            rate: (n > 0).then(|| k as f64 / n as f64),
            wilson95: proportion(Method::Wilson, k, n, LEVEL).ok().map(crate::estimate::Interval::limits),
        };
        let confusion = Confusion::of(self.cases.iter().copied(), self.input.metric);
        let tallies = self.tallies();
        let reached: u64 = tallies.values().map(|tally| tally.part.population).sum();
        let all: u64 = self.groups.iter().map(|group| group.cases).sum();
        let uncovered = all - reached;
        let refusal = match &self.input.frame {
            Frame::Unknown { reason } => Some(reason.clone()),
            Frame::Known { .. } if all == 0 => Some("the frame has no such case".to_owned()),
            Frame::Known { .. } => self.not_reached(&tallies),
        };
        let measures = match &refusal {
            None => self.measures(&tallies, true),
            Some(reason) => Measures { population: self.population(), ..self.nothing(reason) },
        };
        let part = (refusal.is_some() && !tallies.is_empty()).then(|| self.measures(&tallies, false));
        let over_all = |[low, high]: [f64; 2]| {
            let share = |known: f64, rest: u64| known.mul_add(reached as f64, rest as f64) / all as f64;
            [share(low, 0), share(high, uncovered)]
        };
        let known = part.as_ref().and_then(|part| part.weighted);
        let whole_bounds = known.map(|known| over_all(known.bounds.unwrap_or([known.rate; 2])));
        let whole_bounds_ci95 = known.map(|known| over_all(known.bounds_ci95.unwrap_or(known.ci95)));
        let reason = refusal.clone().or_else(|| {
            let missing = measures.weighted_rate.is_none();
            missing.then(|| "no answered case to which the label applies".to_owned())
        });
        Estimate {
            cell: self.cell,
            run: self.run,
            model: self.model,
            category: self.category,
            pooled_over: self.pooled_over,
            covered: refusal.is_none(),
            reason,
            uncovered,
            covered_part: part.map(Box::new),
            whole_bounds,
            whole_bounds_ci95,
            measures,
            sample,
            confusion,
        }
    }

    fn counts(&self) -> (u64, u64) {
        let values: Vec<bool> = self.cases.iter().filter_map(|case| case.answer.yes()).collect();
        (values.len() as u64, values.iter().filter(|yes| **yes).count() as u64)
    }

    fn population(&self) -> Option<u64> {
        match self.input.frame {
            Frame::Known { .. } => Some(self.groups.iter().map(|group| group.cases).sum()),
            Frame::Unknown { .. } => None,
        }
    }

    /// The metric over all cases of the row.
    fn gar_rate(&self) -> Option<f64> {
        let (cases, hits, unknown) = self.groups.iter().fold((0, 0, 0), |(cases, hits, unknown), group| {
            (cases + group.cases, hits + group.hits, unknown + group.unknown)
        });
        (cases > 0 && unknown == 0).then(|| hits as f64 / cases as f64)
    }

    /// The strata that reach the row and have an answered case in it.
    fn tallies(&self) -> BTreeMap<&'a StratumId, Tally> {
        let mut tallies: BTreeMap<&StratumId, Tally> = BTreeMap::new();
        for group in &self.groups {
            if let Reach::Stratum(id) = &group.reach {
                let tally = tallies.entry(id).or_default();
                tally.part.population += group.cases;
                tally.hits += group.hits;
                tally.unknown += group.unknown;
            }
        }
        for case in &self.cases {
            let Some(tally) = tallies.get_mut(&case.stratum) else { continue };
            let yes = case.answer.yes();
            if case.answer.answered() {
                tally.part.answered += 1;
                tally.part.applicable += u64::from(yes.is_some());
                tally.not_applicable += u64::from(yes.is_none());
                tally.part.k += u64::from(yes == Some(true));
            } else {
                tally.part.unanswered += 1;
            }
            if let Some((label, hit)) = case.both(self.input.metric) {
                tally.confusion.count(label, hit);
            }
        }
        tallies.retain(|_, tally| tally.part.answered > 0);
        tallies
    }

    /// Which cases nothing is known about, and why; `None`: all are covered.
    fn not_reached(&self, tallies: &BTreeMap<&'a StratumId, Tally>) -> Option<String> {
        let mut parts = Vec::new();
        let mut add = |keep: &dyn Fn(&FrameGroup) -> bool, what: &str| {
            let mut verdicts: BTreeMap<&str, u64> = BTreeMap::new();
            for group in self.groups.iter().filter(|group| keep(group) && group.cases > 0) {
                *verdicts.entry(group.verdict.map_or("unscored", Verdict::as_str)).or_default() += group.cases;
            }
            let count: u64 = verdicts.values().sum();
            if count > 0 {
                let of: Vec<String> = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
                parts.push(format!("{count} {what} ({})", of.join(", ")));
            }
        };
        add(&|group| group.reach == Reach::NoStratum, "in no stratum");
        add(&|group| group.reach == Reach::Taken, "taken by an earlier batch of another design");
        for stratum in &self.input.strata {
            let own = |group: &FrameGroup| group.reach == Reach::Stratum(stratum.id.clone());
            if !tallies.contains_key(&stratum.id) {
                add(&own, &format!("in stratum {}, of which none here has an answer", stratum.id));
            }
        }
        let all = self.population().unwrap_or_default();
        (!parts.is_empty()).then(|| format!("not covered: of {all} cases {}", parts.join("; ")))
    }

    fn nothing(&self, reason: &str) -> Measures {
        let (n, k) = self.counts();
        Measures {
            population: None,
            n,
            k,
            unanswered: self.cases.iter().filter(|case| !case.answer.answered()).count() as u64,
            weighted_rate: None,
            ci95: None,
            weighted: None,
            gar_rate: self.gar_rate(),
            rogan_gladen: Corrected::missing(reason),
            difference_estimator: Corrected::missing(reason),
            difference_tuned: Corrected::missing(reason),
        }
    }

    fn measures(&self, tallies: &BTreeMap<&'a StratumId, Tally>, whole: bool) -> Measures {
        let tallies: Vec<&Tally> = tallies.values().collect();
        let parts: Vec<Part> = tallies.iter().map(|tally| tally.part).collect();
        let sum = |pick: fn(&Tally) -> u64| tallies.iter().map(|tally| pick(tally)).sum::<u64>();
        let population = sum(|tally| tally.part.population);
        let weighted = weighted_rate(&parts, LEVEL).ok();
        let unknown = sum(|tally| tally.unknown);
        let gar_rate = if whole {
            self.gar_rate()
        } else {
            (population > 0 && unknown == 0).then(|| sum(|tally| tally.hits) as f64 / population as f64)
        };
        let refusal = self.input.meaning.refusal().or_else(|| {
            if gar_rate.is_none() {
                Some(
                    "the metric is not known for every case (no data set is joined, or it has no gold turn)".to_owned(),
                )
            } else if sum(|tally| tally.not_applicable) > 0 {
                Some("the label does not apply to every case, the metric does".to_owned())
            } else {
                None
            }
        });
        let (rogan_gladen, difference, tuned) = match (&refusal, gar_rate) {
            (Some(reason), _) => (Corrected::missing(reason), Corrected::missing(reason), Corrected::missing(reason)),
            (None, None) => (Corrected::missing(""), Corrected::missing(""), Corrected::missing("")),
            (None, Some(gar)) => {
                let paired: Vec<PairedPart> = tallies.iter().map(|tally| tally.paired()).collect();
                (
                    self.rogan_gladen(&paired, gar),
                    Corrected::from_difference(difference::difference(&paired, LEVEL)),
                    Corrected::from_difference(difference::tuned(&paired, LEVEL)),
                )
            }
        };
        Measures {
            population: Some(population),
            n: sum(|tally| tally.part.applicable),
            k: sum(|tally| tally.part.k),
            unanswered: sum(|tally| tally.part.unanswered),
            weighted_rate: weighted.map(|found| found.rate),
            ci95: weighted.map(|found| found.ci95),
            weighted,
            gar_rate,
            rogan_gladen,
            difference_estimator: difference,
            difference_tuned: tuned,
        }
    }

    fn rogan_gladen(&self, parts: &[PairedPart], gar: f64) -> Corrected<RoganGladenMore> {
        if self.category.is_none() {
            return Corrected::missing(
                "the metric's errors differ between models and categories, so this correction is made per cell only",
            );
        }
        if parts.iter().all(|part| part.tp + part.fp == 0) {
            return Corrected::missing(&rogan_gladen::Uncorrected::NoHit.to_string());
        }
        let missing = |label, what| Corrected::missing(&rogan_gladen::Uncorrected::NoCases { label, what }.to_string());
        let Some(sensitivity) =
            LimitedAccuracy::of_strata(parts, LEVEL, |part| part.tp, |part| part.tp + part.false_negatives)
        else {
            return missing(1, "sensitivity");
        };
        let Some(specificity) = LimitedAccuracy::of_strata(parts, LEVEL, |part| part.tn, |part| part.tn + part.fp)
        else {
            return missing(0, "specificity");
        };
        match rogan_gladen::correct_by_limits(gar, sensitivity, specificity) {
            Ok(RoganGladen { rate, ci95, unheld, youden_ci95, .. }) => Corrected {
                rate: Some(rate),
                ci95: Some(ci95),
                more: RoganGladenMore {
                    sensitivity: Some(sensitivity.rate),
                    specificity: Some(specificity.rate),
                    youden_ci95: Some(youden_ci95),
                    unheld: Some(unheld),
                },
                reason: None,
            },
            Err(why) => Corrected::missing(&why.to_string()),
        }
    }
}

impl Tally {
    fn paired(&self) -> PairedPart {
        let Confusion { tp, fp, false_negatives, tn } = self.confusion;
        PairedPart { population: self.part.population, hits: self.hits, tp, fp, false_negatives, tn }
    }
}

impl Corrected<DifferenceMore> {
    fn from_difference<E: std::fmt::Display>(found: Result<DifferenceEstimate, E>) -> Self {
        match found {
            Ok(DifferenceEstimate { rate, ci95, lambda, effective_n, gained }) => Self {
                rate: Some(rate),
                ci95: Some(ci95),
                more: DifferenceMore { lambda: Some(lambda), effective_n, gained },
                reason: None,
            },
            Err(why) => Self::missing(&why.to_string()),
        }
    }
}
