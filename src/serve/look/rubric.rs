//! The rubric's general advice and rules, to be read before the first case.

use maud::{Markup, html};

use crate::rubric::{Rubric, RuleKind, Term};

/// Title, purpose, advice, rules between answers.
pub(in crate::serve) fn advice(rubric: &Rubric) -> Markup {
    let list = |terms: &[Term]| terms.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    html! {
        @for paragraph in rubric.about.split("\n\n") { @if !paragraph.trim().is_empty() { p { (paragraph) } } }
        @if !rubric.guidance.is_empty() {
            h2 { "How to work" }
            ul { @for item in &rubric.guidance { li { (item) } } }
        }
        @if !rubric.rules.is_empty() {
            h2 { "What must fit together" }
            ul {
                @for rule in &rubric.rules {
                    li {
                        @match &rule.kind {
                            RuleKind::Implies { given, then } => { "If " (list(given)) ", then " (list(then)) ": " (rule.because) "." }
                            RuleKind::Equals { label, one_when } => { (label) " is 1 exactly if " (list(one_when)) ": " (rule.because) "." }
                        }
                    }
                }
            }
        }
    }
}
