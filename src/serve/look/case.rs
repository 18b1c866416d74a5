//! A case as a rater sees it: facts at a glance, the conversation turn by turn, the conditions side by side. Everything
//! comes from [`CaseView`] and nothing else.

use maud::{Markup, html};

use super::compare::{self, CallMark};
use super::text;
use crate::rate::{CaseView, ConditionView, EntryView, Piece, SectionView, TurnView, pieces, visible};

/// The whole case. `prefix` keeps ids apart where several cases stand on one page.
pub(in crate::serve) fn case(view: &CaseView, prefix: &str) -> Markup {
    html! {
        (facts(view))
        @if !view.notes.is_empty() {
            ul.gaps aria-label="Gaps in the data" { @for note in &view.notes { li { (visible(note)) } } }
        }
        (sections(view))
        (index(view, prefix))
        @if view.turns.is_empty() && view.sections.is_empty() { p.empty { "There are no turns to show." } }
        @if !view.turns.is_empty() {
            ol.turns {
                @for (index, turn) in view.turns.iter().enumerate() { (self::turn(view, index, turn, prefix)) }
            }
        }
        (condition("Baseline", &view.baseline))
        @if let Some(second) = &view.second { (condition("Second condition", second)) }
    }
}

/// What a case holds beside its turns: task, policy, dialogue, write event.
fn sections(view: &CaseView) -> Markup {
    html! { @for section in &view.sections { (self::section(section)) } }
}

fn section(section: &SectionView) -> Markup {
    html! {
        section.turn.part aria-label=(visible(&section.title)) {
            h2 { (visible(&section.title)) }
            @if section.entries.is_empty() { p.empty { "Nothing." } }
            @for entry in &section.entries { (self::entry(entry)) }
        }
    }
}

fn entry(entry: &EntryView) -> Markup {
    let spoken_by = |role: &str| entry.speaker == role;
    html! {
        div .said .user[spoken_by("user")] .baseline[spoken_by("assistant")] .about[entry.marked] {
            p.who {
                (visible(&entry.speaker))
                @if entry.marked { " " span.badge.gold-badge { "the question is about this" } }
            }
            (text::block(&entry.text))
        }
    }
}

fn facts(view: &CaseView) -> Markup {
    let facts = html! {
            @if let Some(category) = view.category { div { dt { "Category" } dd { code { (category) } } } }
            @if let Some(action) = view.gold_action { div { dt { "Gold action" } dd { strong { (action) } } } }
            @if let Some(turn) = view.gold_turn { div { dt { "Gold turn" } dd { strong { (turn) } } } }
            @if !view.held_out_tools.is_empty() {
                div { dt { "Held-out tools" } dd { @for tool in &view.held_out_tools { code.tool-name { (visible(tool)) } " " } } }
            }
            @if let Some(turn) = view.return_turn { div { dt { "They come back" } dd { "turn " (turn) } } }
            @if let Some(transition) = view.transition { div { dt { "Transition" } dd { (transition.to_string().replace('_', " ")) } } }
            @if let Some(stratum) = &view.stratum { div { dt { "Stratum" } dd { (visible(stratum)) } } }
            (run("Baseline", &view.baseline))
            @if let Some(second) = &view.second { (run("Second condition", second)) }
    };
    // A case of another benchmark may have none of them.
    html! { @if !facts.0.is_empty() { dl.facts { (facts) } } }
}

/// Where a condition comes from and what the grader said, as one fact.
fn run(name: &str, condition: &ConditionView) -> Markup {
    if condition.source.is_none() && condition.verdict.is_none() {
        return Markup::default();
    }
    html! {
        div.run {
            dt { (name) }
            dd {
                @if let Some(verdict) = &condition.verdict {
                    span class={ "verdict " (verdict.to_lowercase()) } title="the grader's verdict" { (visible(verdict)) } " "
                }
                @if let Some(source) = &condition.source { (visible(&source.run)) " · " (visible(&source.model)) " · " (visible(&source.condition)) }
            }
        }
    }
}

/// Links to the turns of a long conversation.
fn index(view: &CaseView, prefix: &str) -> Markup {
    if view.turns.len() < 3 {
        return Markup::default();
    }
    html! {
        nav.turn-index aria-label="Turns" {
            @for index in 0..view.turns.len() {
                @let gold = is(view.gold_turn, index);
                a.turn-link .gold[gold] href={ "#" (prefix) "turn-" (index) } { span.hidden-text { "Turn " } (index) @if gold { span.hidden-text { ", gold turn" } } }
            }
        }
    }
}

fn is(turn: Option<u32>, index: usize) -> bool {
    turn.is_some_and(|turn| usize::try_from(turn).is_ok_and(|turn| turn == index))
}

fn turn(view: &CaseView, index: usize, turn: &TurnView, prefix: &str) -> Markup {
    let gold = is(view.gold_turn, index);
    let back = is(view.return_turn, index);
    let id = format!("{prefix}turn-{index}");
    html! {
        li.turn .gold[gold] id=(id) {
            h2 {
                "Turn " (index)
                @if gold { " " span.badge.gold-badge { "gold turn" } }
                @if back { " " span.badge { "held-out tools come back" } }
            }
            @if let Some(user) = &turn.user {
                div.said.user { p.who { "User" } (text::block(user)) }
            }
            @if let Some(calls) = &turn.ground_truth {
                div.said.truth {
                    p.who { "The benchmark expects" @if calls.is_empty() { " no call" } }
                    @for call in calls { div.call { (text::block(call)) } }
                }
            }
            (conditions(view, turn))
        }
    }
}

/// Both conditions of a turn, side by side where there is room.
fn conditions(view: &CaseView, turn: &TurnView) -> Markup {
    let read = |emissions: Option<&Vec<String>>| -> Vec<Vec<Piece>> {
        emissions.into_iter().flatten().map(|emission| pieces(emission)).collect()
    };
    let (left, right) = (read(turn.baseline.as_ref()), read(turn.second.as_ref()));
    if view.second.is_none() {
        let none = vec![CallMark::Same; compare::calls(&left).len()];
        return side(view, ("Model", "baseline"), turn.baseline.as_deref(), &left, &none, &[]);
    }
    let same = turn.baseline.is_some() && turn.baseline == turn.second;
    let (marks_left, marks_right) = compare::marks(&compare::calls(&left), &compare::calls(&right));
    let baseline = side(view, ("Baseline", "baseline"), turn.baseline.as_deref(), &left, &marks_left, &right);
    let second = side(view, ("Second condition", "second"), turn.second.as_deref(), &right, &marks_right, &left);
    html! {
        @if same && !left.is_empty() {
            (baseline)
            details.same { summary { "Second condition: the same in this turn" } (second) }
        } @else {
            div.sides { (baseline) (second) }
        }
    }
}

fn side(
    view: &CaseView,
    (name, class): (&str, &str),
    emissions: Option<&[String]>,
    parts: &[Vec<Piece>],
    marks: &[CallMark],
    other: &[Vec<Piece>],
) -> Markup {
    let Some(emissions) = emissions else { return Markup::default() };
    let many = emissions.len() > 1;
    let mut marks = marks.iter();
    html! {
        div class={ "said " (class) } {
            p.who { (name) @if emissions.is_empty() { ": no emission in this turn" } }
            @for (number, emission) in parts.iter().enumerate() {
                div.emission {
                    @if many { span.step title={ "emission " (number + 1) " of " (emissions.len()) } { (number + 1) } }
                    div.pieces {
                        @for piece in emission {
                            @match piece {
                                Piece::Call(call) => (text::call(call, marks.next().unwrap_or(&CallMark::Same), held_out(view, &call.name))),
                                Piece::Text(said) => (words(said, number, other)),
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Is this one of the tools that are held out? A name may stand behind that of its class.
fn held_out(view: &CaseView, name: &str) -> bool {
    let bare = name.rsplit('.').next().unwrap_or(name);
    view.held_out_tools.iter().any(|tool| tool == name || tool == bare)
}

/// Text; a list of calls written as text is compared with what stands at the same place on the other side.
fn words(said: &str, number: usize, other: &[Vec<Piece>]) -> Markup {
    let listed = |text: &str| text.trim_start().starts_with('[') && text.trim_end().ends_with(")]");
    if !listed(said) {
        return text::block(said);
    }
    let partner = other.get(number).and_then(|pieces| match pieces.as_slice() {
        [Piece::Text(text)] if listed(text) => Some(text),
        _ => None,
    });
    let stretches = partner.and_then(|text| compare::stretches(said, text));
    html! {
        div.call {
            @match stretches {
                Some(stretches) => (text::marked(said, &stretches)),
                None => (text::block(said)),
            }
        }
    }
}

fn condition(name: &str, condition: &ConditionView) -> Markup {
    let parts = [
        ("Inference error", &condition.error),
        ("Error type", &condition.error_type),
        ("What the grader found", &condition.error_detail),
    ];
    if parts.iter().all(|(_, text)| text.is_none()) {
        return Markup::default();
    }
    html! {
        section.grader {
            h2 { (name) ": errors and grader" }
            @for (title, text) in parts {
                @if let Some(text) = text { div.said { p.who { (title) } (text::remark(text)) } }
            }
        }
    }
}
