//! What the audit says, in plain sentences made from the numbers.

use std::fmt::Write as _;

use super::warnings::listed;
use super::{Context, LabelRow, View};
use crate::report::number;

/// Customary thresholds of Krippendorff 2004, Content Analysis, ch. 11: from 0.8 firm conclusions, from 0.667 tentative
/// ones. They were proposed for alpha; a reader may set others.
const FIRM: f64 = 0.8;
const TENTATIVE: f64 = 0.667;

pub(super) fn of(context: &Context<'_>, view: &View) -> Vec<String> {
    let mut sentences = vec![subject(context, view), agreement(view)];
    sentences.extend(rates(view));
    sentences.extend(cells(view));
    sentences.push(gar(view));
    sentences.extend(caveat(view));
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn subject(context: &Context<'_>, view: &View) -> String {
    let header = &view.header;
    let models = header.models.len();
    let kind = |rater| {
        let found = header.raters.iter().find(|line| &line.name == rater);
        found.map_or("unknown", |line| line.kind.as_str())
    };
    let [first, second] = &header.pair;
    let raters = if kind(first) == kind(second) {
        let words = match kind(first) {
            "model" => "Two language-model raters",
            "human" => "Two people",
            "simulated" => "Two simulated raters",
            _ => "Two raters",
        };
        words.to_owned()
    } else {
        format!("A {} and a {} rater", kind(first), kind(second))
    };
    format!(
        "{raters} ({first} and {second}) judged {} of {} in {}.",
        plural(header.cases, "case", "cases"),
        plural(models as u64, "model", "models"),
        plural(context.audit.strata.iter().filter(|stratum| stratum.drawn > 0).count() as u64, "stratum", "strata"),
    )
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn agreement(view: &View) -> String {
    let named = |keep: &dyn Fn(f64) -> bool| -> Vec<String> {
        let of = |row: &&LabelRow| row.dropped.kappa.is_some_and(keep);
        let text = |row: &LabelRow| format!("{} ({})", row.dropped.label, number::fixed(row.dropped.kappa, 2));
        view.agreement.labels.iter().filter(of).map(text).collect()
    };
    let firm = named(&|kappa| kappa >= FIRM);
    let middle = named(&|kappa| (TENTATIVE..FIRM).contains(&kappa));
    let weak = named(&|kappa| kappa < TENTATIVE);
    let mut parts = Vec::new();
    if !firm.is_empty() {
        parts.push(format!("They agree well enough to build on (kappa of at least 0.8) on {}", listed(&firm)));
    }
    if !middle.is_empty() {
        parts.push(format!("well enough for tentative conclusions (at least 0.667) on {}", listed(&middle)));
    }
    if !weak.is_empty() {
        parts.push(format!("not well enough on {}", listed(&weak)));
    }
    let mut text = parts.join("; ");
    if text.is_empty() {
        return String::new();
    }
    if let Some(rest) = text.strip_prefix("well").or_else(|| text.strip_prefix("not")) {
        let word = if text.starts_with("well") { "well" } else { "not" };
        text = format!("They agree {word}{rest}");
    }
    text.push('.');
    let chance: Vec<String> = view
        .agreement
        .labels
        .iter()
        .filter(|row| row.dropped.ci95.is_some_and(|[low, high]| low <= 0.0 && high >= 0.0))
        .map(|row| row.dropped.label.to_string())
        .collect();
    let below: Vec<String> = view
        .agreement
        .labels
        .iter()
        .filter(|row| row.dropped.ci95.is_some_and(|[_, high]| high < 0.0))
        .map(|row| row.dropped.label.to_string())
        .collect();
    if !below.is_empty() {
        text += &format!(
            " On {} they agree less than by chance: look for swapped codes or two readings of the question.",
            listed(&below)
        );
    }
    if !chance.is_empty() {
        let _ = write!(
            text,
            " On {} their agreement cannot be told from chance, so these labels' values should not be interpreted.",
            listed(&chance)
        );
    }
    text
}

fn rates(view: &View) -> Option<String> {
    let Some(rates) = &view.rates else { return Some(view.finals.sentence.clone()) };
    let of = |name: &str| rates.iter().find(|rate| rate.label.as_str() == name);
    let text = |name: &str| {
        let rate = &of(name)?.pooled;
        let interval = rate.wilson95?;
        Some(format!(
            "{} of {} ({}; 95 % interval {})",
            rate.k,
            rate.n,
            number::percent(rate.rate),
            number::percent_interval(Some(interval))
        ))
    };
    let at = text("B1a").map(|text| format!("at the gold turn in {text}"));
    let later = text("B1b").map(|text| format!("at the gold turn or later in {text}"));
    let found: Vec<String> = [at, later].into_iter().flatten().collect();
    (!found.is_empty()).then(|| format!("After adjudication the gold action stands {}.", found.join(", and ")))
}

fn cells(view: &View) -> Option<String> {
    let cells = view.cell_rates.as_ref()?;
    // Share, cases, words; of equal shares the one over more cases says more.
    let mut found: Vec<(f64, u64, String)> = Vec::new();
    for cell in cells {
        let Some(rate) = cell.rates.iter().find(|rate| rate.label.as_str() == "B1b") else { continue };
        if let Some(share) = rate.rate.rate {
            let text = format!("{} of {} ({} {})", rate.rate.k, rate.rate.n, cell.model, cell.category);
            found.push((share, rate.rate.n, text));
        }
    }
    let least = found.iter().min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    let most = found.iter().max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
    (least.0 < most.0)
        .then(|| format!("Models and categories differ, from {} to {}: the pooled rate hides this.", least.2, most.2))
}

fn gar(view: &View) -> String {
    let Some(label) = view.gar.labels.first() else { return view.gar.sentence.clone() };
    let cross = &label.pooled;
    if cross.n == 0 {
        return format!("No case has both a final {} and the automatic metric.", label.label);
    }
    let kappa = match (cross.kappa, cross.ci95) {
        (Some(_), Some(_)) => {
            format!("kappa {}, {}", number::fixed(cross.kappa, 2), number::interval(cross.ci95, 2))
        }
        (Some(_), None) => format!("kappa {}", number::fixed(cross.kappa, 2)),
        (None, _) => "kappa undefined".to_owned(),
    };
    format!(
        "Case by case the automatic metric (GAR) says the same as {} on {} of {} cases ({kappa}). Of {} that it counts as hits, \
         raters deny {}; of {} that it counts as misses, raters find the gold action in {}.",
        label.label,
        cross.tp + cross.tn,
        cross.n,
        plural(cross.tp + cross.fp, "case", "cases"),
        cross.fp,
        plural(cross.false_negatives + cross.tn, "case", "cases"),
        cross.false_negatives,
    )
}

fn caveat(view: &View) -> Option<String> {
    let has = |code: &str| view.warnings.iter().any(|warning| warning.code == code);
    let reasons: Vec<String> = [
        ("simulated_raters", "the raters are simulated"),
        ("raters_are_models", "both raters are language models"),
        ("strata_by_outcome", "cases were chosen by their outcome"),
        ("gold_turn_zero", "B1a looks at turn 0 even where nothing is missing there"),
    ]
    .into_iter()
    .filter(|(code, _)| has(code))
    .map(|(_, text)| text.to_owned())
    .collect();
    (!reasons.is_empty()).then(|| format!("Before using any of it, mind that {}.", listed(&reasons)))
}
