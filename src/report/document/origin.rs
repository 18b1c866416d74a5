//! Where all of it comes from.

use super::{Block, Cell, Column, Fact, Row, Section, Table};
use crate::report::View;

pub(super) fn section(view: &View) -> Section {
    let origin = &view.provenance;
    let batch = &origin.batch;
    let mut facts = Vec::new();
    let mut text = |name: &str, value: String| facts.push((name.to_owned(), Fact::Text(value)));
    text("Program", origin.program.clone());
    text("Report made", origin.generated_at.clone());
    text("Batch made", format!("{} ({}), {}", batch.name, batch.kind.as_str(), batch.created_at));
    text("Seed", batch.seed.clone().unwrap_or_else(|| "none: the sample was not drawn here".to_owned()));
    if !batch.excluded.is_empty() {
        text("Excluded batches", batch.excluded.join(", "));
    }
    for (role, run) in &batch.bindings {
        text("Bound", format!("{role} = {run}"));
    }
    for (model, run) in &origin.joined_runs {
        text("Joined", format!("{model} = {run}"));
    }
    let mut code = |name: &str, value: String| facts.push((name.to_owned(), Fact::Code(value)));
    code("Command of the report", origin.command_line.clone());
    code("Command of the batch", batch.command.clone());
    if let Some(plan) = &batch.plan {
        code("Plan", format!("{} sha256:{}", plan.name, plan.digest));
    }
    if let Some(frame) = &batch.frame {
        code("Frame", format!("{} cases sha256:{}", frame.size, frame.digest));
    }
    code("Rubric", format!("{} sha256:{}", origin.rubric.id, origin.rubric.digest));
    code("Chain head", format!("{} after {} entries", origin.chain_head, origin.chain_entries));
    let mut blocks = vec![Block::Facts(facts)];
    if !batch.sampling.rounds.is_empty() {
        blocks.push(Block::Table(rounds(view)));
    }
    if !origin.runs.is_empty() {
        blocks.push(Block::Table(runs(view)));
    }
    blocks.push(Block::Paragraph(
        "The chain head covers every rating, ruling and spot check up to it. Keep a copy outside the database: only that \
         shows later that nothing was rewritten."
            .to_owned(),
    ));
    Section { id: "provenance", title: "Provenance".to_owned(), blocks }
}

fn rounds(view: &View) -> Table {
    let sampling = &view.provenance.batch.sampling;
    let rows = sampling.rounds.iter().map(|round| {
        Row::new(vec![
            Cell::Count(round.round),
            Cell::text(&round.kind),
            Cell::Count(round.added),
            Cell::Count(round.ratings_known),
            Cell::MaybeCount(round.ratings_elsewhere),
            Cell::text(round.seed.as_deref().unwrap_or_default()),
            Cell::text(&round.made_at),
            Cell::code(&round.command),
        ])
    });
    let adversarial = sampling.rounds.iter().any(|round| round.adversarial);
    let note = "Ratings known: answers of people and models when the round was drawn, to this batch's cases and to cases of the \
                same frame in other batches.";
    Table {
        name: "rounds".to_owned(),
        caption: "Rounds of the batch".to_owned(),
        columns: vec![
            Column::number("Round", "round"),
            Column::text("What", "kind"),
            Column::number("Cases", "added"),
            Column::number("Ratings known", "ratings_known"),
            Column::number("Elsewhere", "ratings_elsewhere"),
            Column::text("Seed", "seed"),
            Column::text("Made", "made_at"),
            Column::text("Command", "command"),
        ],
        rows: rows.collect(),
        note: Some(if adversarial {
            format!("{note} Adversarial setting: every round has a seed of its own, drawn after the one before.")
        } else {
            note.to_owned()
        }),
        ..Table::default()
    }
}

fn runs(view: &View) -> Table {
    let rows = view.provenance.runs.iter().map(|run| {
        Row::new(vec![
            Cell::text(&run.name),
            Cell::text(&run.model),
            Cell::text(&run.condition),
            Cell::text(match run.text_saved {
                Some(true) => "yes",
                Some(false) => "no",
                None => "not known",
            }),
            Cell::code(run.results.join(" ")),
        ])
    });
    Table {
        name: "runs".to_owned(),
        caption: "Runs".to_owned(),
        columns: vec![
            Column::text("Run", "run"),
            Column::text("Model", "model"),
            Column::text("Condition", "condition"),
            Column::text("Text saved", "text_saved"),
            Column::text("Result files (SHA-256)", "results"),
        ],
        rows: rows.collect(),
        ..Table::default()
    }
}
