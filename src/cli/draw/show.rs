//! How a draw looks on the terminal.

use super::request::{DrawRequest, Drawn};
use super::sharing;
use crate::cli::{Output, output};
use crate::sample::{Draw, Finding};

/// The plan, as a dry run shows it before the strata.
pub(super) fn plan(request: &DrawRequest<'_>, drawn: &Drawn, output: &mut Output) {
    let plan = request.plan;
    output.line(format!("plan        {}: {}", plan.id, plan.title));
    output.line(format!("allocation  {}", sharing::describe(&drawn.sharing, plan, drawn.pilot.as_ref())));
    if let Some(pilot) = &drawn.pilot {
        let each: Vec<String> =
            pilot.counts.iter().map(|(id, count)| format!("{id} {} of {}", count.ones, count.rated)).collect();
        output.line(format!("pilot       {} is 1 in {}", pilot.choice.label, each.join(", ")));
        for (reason, count) in &pilot.left_out {
            output.line(format!("            {count} cases left out: {reason}"));
        }
    }
    let digest: String = request.rubric.digest().chars().take(12).collect();
    output.line(format!("rubric      {} {digest}…", request.rubric.id));
    for (role, run) in drawn.setting.bound.bindings() {
        output.line(format!("bound       {role} = {run}"));
    }
    for role in drawn.setting.bound.unbound_roles() {
        output.line(format!("not bound   {role}"));
    }
    for excluded in &drawn.draw.excluded {
        output.line(format!(
            "excluded    batch {}: {} cases, {} of them in this frame",
            excluded.batch, excluded.cases, excluded.in_frame
        ));
    }
    output.line(format!("frame       {} cases", drawn.draw.frame.cases));
}

/// The strata with their numbers.
pub(super) fn strata(draw: &Draw, output: &mut Output) {
    // Without earlier batches both probabilities are one, and nothing is excluded.
    let earlier = !draw.excluded.is_empty();
    let replaced = draw.strata.iter().any(|s| s.replacements > 0);
    let mut header = vec!["stratum", "title", "N"];
    if earlier {
        header.push("taken");
    }
    header.push("quota");
    if replaced {
        header.push("replaced");
    }
    header.extend(["n", "short"]);
    header.extend(if earlier { &["p given earlier", "p overall"][..] } else { &["p"] });
    let rows: Vec<Vec<String>> = draw
        .strata
        .iter()
        .map(|s| {
            let mut row = vec![s.id.to_string(), s.title.clone(), s.population.to_string()];
            if earlier {
                row.push(s.excluded.to_string());
            }
            row.push(s.quota.to_string());
            if replaced {
                row.push(s.replacements.to_string());
            }
            row.extend([s.n.to_string(), s.shortfall.to_string()]);
            row.push(output::number(s.inclusion_probability, 4));
            if earlier {
                row.push(output::number(s.unconditional_probability, 4));
            }
            row
        })
        .collect();
    let numbers: Vec<usize> = (2..header.len()).collect();
    output.table(&header, &rows, &numbers);
}

/// What the sample cannot say.
pub(super) fn findings(draw: &Draw, output: &mut Output) {
    let unreached = draw.frame.unreached;
    if unreached > 0 {
        output.line(format!(
            "No stratum reaches {unreached} of the frame's {} cases; the sample says nothing about them.",
            draw.frame.cases
        ));
    }
    for Finding { text, .. } in &draw.frame.findings {
        output.line(format!("  {text}"));
    }
}

pub(super) fn end(request: &DrawRequest<'_>, draw: &Draw, dry_run: bool, output: &mut Output) {
    output.line(format!("seed {} · plan {} · frame {}", draw.seed, draw.plan_digest, draw.frame_digest));
    let drawn = draw.cases.len();
    if dry_run {
        output.line(format!("dry run: {drawn} cases would be drawn; nothing was stored"));
    } else {
        let batch = request.batch;
        output.line(format!(
            "batch {batch}: {drawn} cases; next: dualrater export --batch {batch} --rater NAME --as csv"
        ));
    }
}
