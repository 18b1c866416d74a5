//! A case view as Markdown: a conversation turn by turn. The same view always gives the same text, and whatever comes
//! from a run or a data set stands in a block or span that it cannot leave.

use std::fmt::Write as _;

use super::calls::{Piece, pieces};
use super::inert::{code_span, fenced};
use super::view::{CaseView, ConditionView, SectionView, TurnView};

/// The case as Markdown.
#[must_use]
pub fn case_markdown(view: &CaseView) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_case(&mut out, view);
    out
}

fn write_case(out: &mut String, view: &CaseView) -> std::fmt::Result {
    writeln!(out, "# Case {}\n", code_span(view.case.as_str()))?;
    write_facts(out, view)?;
    for note in &view.notes {
        writeln!(out, "* Note: {}", super::text::plain_line(note))?;
    }
    writeln!(out)?;
    for (index, turn) in view.turns.iter().enumerate() {
        write_turn(out, view, index, turn)?;
    }
    for section in &view.sections {
        write_section(out, section)?;
    }
    if view.turns.is_empty() && view.sections.is_empty() {
        writeln!(out, "There are no turns to show.\n")?;
    }
    write_condition(out, "Baseline", &view.baseline)?;
    if let Some(second) = &view.second {
        write_condition(out, "Second condition", second)?;
    }
    Ok(())
}

fn write_facts(out: &mut String, view: &CaseView) -> std::fmt::Result {
    if let Some(category) = view.category {
        writeln!(out, "* Category: {category}")?;
    }
    if let Some(stratum) = &view.stratum {
        writeln!(out, "* Stratum: {}", code_span(stratum))?;
    }
    if let Some(transition) = view.transition {
        writeln!(out, "* Transition: {transition}")?;
    }
    if let Some(action) = view.gold_action {
        writeln!(out, "* Gold action: {action}")?;
    }
    if let Some(turn) = view.gold_turn {
        writeln!(out, "* Gold turn: {turn}")?;
    }
    if !view.held_out_tools.is_empty() {
        let tools: Vec<String> = view.held_out_tools.iter().map(|tool| code_span(tool)).collect();
        writeln!(out, "* Held-out tools: {}", tools.join(", "))?;
    }
    if let Some(turn) = view.return_turn {
        writeln!(out, "* The held-out tools come back at turn {turn}.")?;
    }
    let conditions = [("Baseline", Some(&view.baseline)), ("Second condition", view.second.as_ref())];
    for (name, condition) in conditions {
        let Some(condition) = condition else { continue };
        if let Some(source) = &condition.source {
            let (run, model) = (code_span(&source.run), code_span(&source.model));
            writeln!(out, "* {name}: run {run}, model {model}, condition {}", code_span(&source.condition))?;
        }
        if let Some(verdict) = &condition.verdict {
            writeln!(out, "* Grader on the {}: {verdict}", name.to_lowercase())?;
        }
    }
    Ok(())
}

fn write_turn(out: &mut String, view: &CaseView, index: usize, turn: &TurnView) -> std::fmt::Result {
    let is = |turn: Option<u32>| turn.is_some_and(|turn| usize::try_from(turn).is_ok_and(|turn| turn == index));
    let gold = if is(view.gold_turn) { " (gold turn)" } else { "" };
    let back = if is(view.return_turn) { " (held-out tools come back)" } else { "" };
    writeln!(out, "## Turn {index}{gold}{back}\n")?;
    if let Some(user) = &turn.user {
        write_text(out, "User", user)?;
    }
    match turn.ground_truth.as_deref() {
        None => {}
        Some([]) => writeln!(out, "The benchmark expects no call in this turn.\n")?,
        Some(calls) => writeln!(out, "The benchmark expects:\n\n{}", fenced(&calls.join("\n")))?,
    }
    write_emissions(out, "Baseline", turn.baseline.as_deref())?;
    if view.second.is_some() {
        write_emissions(out, "Second condition", turn.second.as_deref())?;
    }
    Ok(())
}

fn write_emissions(out: &mut String, condition: &str, emissions: Option<&[String]>) -> std::fmt::Result {
    match emissions {
        None => Ok(()),
        Some([]) => writeln!(out, "{condition}: no emission in this turn.\n"),
        Some(emissions) => {
            for (number, emission) in emissions.iter().enumerate() {
                let title = format!("{condition}, emission {} of {}", number + 1, emissions.len());
                write_text(out, &title, &readable(emission))?;
            }
            Ok(())
        }
    }
}

fn write_section(out: &mut String, section: &SectionView) -> std::fmt::Result {
    writeln!(out, "## {}\n", super::text::plain_line(&section.title))?;
    if section.entries.is_empty() {
        writeln!(out, "Nothing.\n")?;
    }
    for entry in &section.entries {
        let mark = if entry.marked { " (this is what the question is about)" } else { "" };
        write_text(out, &format!("{}{mark}", super::text::plain_line(&entry.speaker)), &entry.text)?;
    }
    Ok(())
}

/// The parts of an emission, one below the other.
fn readable(emission: &str) -> String {
    let line = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Call(call) => call.to_string(),
    };
    pieces(emission).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn write_text(out: &mut String, title: &str, text: &str) -> std::fmt::Result {
    if text.is_empty() {
        return writeln!(out, "{title}: (empty)\n");
    }
    writeln!(out, "{title}:\n\n{}", fenced(text))
}

fn write_condition(out: &mut String, name: &str, condition: &ConditionView) -> std::fmt::Result {
    let parts = [
        ("Inference error", &condition.error),
        ("Grader's error type", &condition.error_type),
        ("Grader's detail", &condition.error_detail),
    ];
    if parts.iter().all(|(_, text)| text.is_none()) {
        return Ok(());
    }
    writeln!(out, "## {name}: errors and grader\n")?;
    for (title, text) in parts {
        if let Some(text) = text {
            write_text(out, title, text)?;
        }
    }
    Ok(())
}
