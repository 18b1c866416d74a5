//! The questions beside a case: one small form per label, which works as it stands and faster with the script.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::model::{LabelId, RatingValue};
use crate::rate::{LabelForm, RaterCase, visible};
use crate::rubric::{Applicability, Label, LabelKind, NaPolicy, Rubric};
use crate::store::{Draft, Marks};

/// What a message under a question is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::serve) enum Level {
    /// The answer was refused and is a draft.
    Refused,
    /// It was stored; there is something to know.
    Note,
}

/// Everything that the questions of one case are made from.
pub(in crate::serve) struct Questions<'a> {
    pub rubric: &'a Rubric,
    pub case: &'a RaterCase,
    pub drafts: &'a BTreeMap<LabelId, Draft>,
    pub messages: &'a BTreeMap<LabelId, (Level, String)>,
    pub marks: &'a Marks,
    /// Path below which the forms are posted; in a packet nothing is posted.
    pub action: Option<&'a str>,
    /// Keeps ids apart where several cases stand on one page.
    pub prefix: &'a str,
}

/// One way to answer: what is stored, the key, and the words.
pub(in crate::serve) struct Offer {
    pub value: String,
    pub key: String,
    pub title: String,
    pub help: String,
    pub alone: bool,
}

/// The answers that a label takes for a case; of named values those in `offered`. A value keeps its key where others are left
/// out, so that hands need not learn each case anew.
pub(in crate::serve) fn offers(label: &Label, applies: Applicability, offered: &[String]) -> Vec<Offer> {
    let offer = |value: &str, key: String, title: &str, help: &str, alone: bool| Offer {
        value: value.to_owned(),
        key,
        title: title.to_owned(),
        help: help.to_owned(),
        alone,
    };
    let mut offers = match &label.kind {
        LabelKind::Binary => {
            vec![offer("1", "1".into(), "Yes", "", true), offer("0", "0".into(), "No", "", true)]
        }
        LabelKind::Choice(_) | LabelKind::Choices(_) => (1..)
            .zip(label.offered(None))
            .filter(|(_, choice)| offered.contains(&choice.id))
            .map(|(number, choice)| {
                let key = if number < 10 { number.to_string() } else { String::new() };
                offer(&choice.id, key, &choice.title, &choice.help, choice.alone)
            })
            .collect(),
    };
    if label.may_cannot_judge {
        let help = "The text that this asks about was not saved.";
        offers.push(offer(RatingValue::CANNOT_JUDGE, "x".into(), "Cannot judge", help, true));
    }
    if applies == Applicability::RaterDecides && label.na != NaPolicy::Never {
        offers.push(offer(RatingValue::NOT_APPLICABLE, "n".into(), "Does not apply", "", true));
    }
    offers
}

/// The questions of a case and the marks below them.
pub(in crate::serve) fn questions(given: &Questions<'_>) -> Markup {
    let asked: Vec<(&Label, &LabelForm)> =
        given.case.labels.iter().filter_map(|form| Some((given.rubric.label(&form.label)?, form))).collect();
    html! {
        @for (label, form) in asked {
            @if form.applies == Applicability::NotApplicable {
                div.question-closed {
                    span.id { (label.id) } " " (label.title) span.why { "does not apply to this case: n.a." }
                }
            } @else if !label.asked {
                div.question-derived data-label=(label.id) {
                    span.id { (label.id) } " " (label.title)
                    span.why {
                        "follows by rule: "
                        output.value { (form.value.as_ref().map_or(if given.action.is_some() { "open" } else { "filled in on import" }, RatingValue::as_str)) }
                    }
                }
            } @else {
                (question(given, label, form))
            }
        }
        (marks(given))
    }
}

fn question(given: &Questions<'_>, label: &Label, form: &LabelForm) -> Markup {
    let draft = given.drafts.get(&label.id);
    let stored = form.value.as_ref().map_or("", RatingValue::as_str);
    let value = draft.map(|draft| draft.value.as_str()).filter(|value| !value.is_empty()).unwrap_or(stored);
    let rationale = draft.map_or(form.rationale.as_str(), |draft| draft.rationale.as_str());
    let id = format!("{}q-{}", given.prefix, label.id);
    let offers = offers(label, form.applies, &form.offered);
    let several = matches!(label.kind, LabelKind::Choices(_));
    let message = given.messages.get(&label.id);
    html! {
        form.question .done[!stored.is_empty() && draft.is_none()] .draft[draft.is_some()] id=(id) data-label=(label.id)
            data-several[several] method="post" action=[given.action.map(|action| format!("{action}/answer"))] autocomplete="off" {
            input type="hidden" name="label" value=(label.id);
            input type="hidden" name="digest" value=(given.case.digest);
            h3 id={ (id) "-title" } { span.id { (label.id) } " " (label.title) }
            div.explain {
                p id={ (id) "-ask" } { (label.question) }
                @if let Some(when) = &label.applies.when { p.when { "Only if: " (when) " Else it does not apply." } }
                (how(label))
            }
            (answers(&id, &format!("{}: {}", label.id, label.title), &offers, several, value))
            textarea name="rationale" rows="1" maxlength="20000" aria-label={ "Rationale for " (label.id) }
                placeholder="Why? Point at turns and emissions" { "\n" (rationale) }
            p.state role="status" {
                @if let Some((level, text)) = message {
                    span.refused[*level == Level::Refused] { @if *level == Level::Refused { "Not taken: " } (visible(text)) }
                } @else if draft.is_some() { "Draft, not an answer yet" } @else if !stored.is_empty() { "Saved" }
            }
            @if given.action.is_some() { button.plain-only { "Save " (label.id) } }
        }
    }
}

/// The answers to choose from, with their keys. `id` is the question's, `legend` what a screen reader says, `value` what is
/// chosen.
pub(in crate::serve) fn answers(id: &str, legend: &str, offers: &[Offer], several: bool, value: &str) -> Markup {
    let chosen: Vec<&str> = if several { value.split('+').collect() } else { vec![value] };
    let long = offers.iter().any(|offer| offer.title.chars().count() > 16);
    html! {
        fieldset aria-describedby={ (id) "-ask" } .stacked[long] {
            legend.hidden-text { (legend) }
            @for offer in offers {
                @let checked = chosen.contains(&offer.value.as_str());
                label.offer title=[Some(&offer.help).filter(|help| !help.is_empty())] {
                    @if several {
                        input type="checkbox" name="value" value=(offer.value) data-key=(offer.key) data-alone[offer.alone] checked[checked];
                    } @else {
                        input type="radio" name="value" value=(offer.value) data-key=(offer.key) checked[checked];
                    }
                    @if !offer.key.is_empty() { kbd aria-hidden="true" { (offer.key) } }
                    span { (offer.title) @if long && !offer.help.is_empty() { small { (offer.help) } } }
                }
            }
        }
    }
}

/// Decision steps, readings and examples of a label.
fn how(label: &Label) -> Markup {
    if label.steps.is_empty() && label.examples.is_empty() {
        return Markup::default();
    }
    html! {
        details.how {
            summary { "How to decide" }
            @if let Some(used) = label.readings.iter().find(|reading| reading.used) {
                p { "Of several readings, this one counts: " (used.text) }
            }
            @if !label.steps.is_empty() { ol { @for step in &label.steps { li { (step) } } } }
            @if !label.examples.is_empty() {
                details.examples {
                    summary { (label.examples.len()) " example" @if label.examples.len() != 1 { "s" } }
                    ul { @for example in &label.examples { li { (example.case) " " strong { "→ " (example.answer) } " " (example.why) } } }
                }
            }
        }
    }
}

fn marks(given: &Questions<'_>) -> Markup {
    let flagged = given.marks.flag.is_some();
    html! {
        form.marks method="post" action=[given.action.map(|action| format!("{action}/marks"))] autocomplete="off" {
            div.mark {
                label.offer { input type="checkbox" name="flag" value="1" data-key="f" checked[flagged]; kbd aria-hidden="true" { "f" } span { "Flag to look at again" } }
                input type="text" name="note" maxlength="2000" aria-label="Note to the flag" placeholder="Note" value=(given.marks.flag.as_deref().unwrap_or_default());
            }
            label.offer { input type="checkbox" name="known" value="1" checked[given.marks.known]; span { "I know this case from elsewhere" } }
            p.state role="status" {}
            @if given.action.is_some() { button.plain-only { "Save marks" } }
        }
    }
}
