//! What would be asked and what it would cost, without asking.

use super::summary::Price;
use super::{Args, Work};
use crate::cli::Output;
use crate::cli::desk::Desk;
use crate::error::Result;
use crate::judge::{Parameters, Request};
use crate::rate::{addressed, prompt};
use crate::store::Store;

/// What the whole would take.
#[derive(Debug, serde::Serialize)]
struct Estimate {
    requests: u64,
    characters: u64,
    prompt_tokens: u64,
    answer_tokens: u64,
    cost: Option<f64>,
    cases_with_text_that_addresses_the_rater: u64,
}

pub fn print(
    store: &Store,
    desk: &Desk,
    work: &mut Work,
    args: &Args,
    parameters: &Parameters,
    price: &Price,
    output: &mut Output,
) -> Result<()> {
    let mut first: Option<(String, Request)> = None;
    let (mut requests, mut characters, mut flagged) = (0_u64, 0_u64, 0_u64);
    while let Some(job) = work.next_job(store, desk)? {
        let request = Request::first(prompt(&desk.rubric, &job.case), &desk.rubric, &job.case, &job.facts);
        requests += 1;
        characters += request.characters() as u64;
        flagged += u64::from(job.pass == 1 && !addressed(&job.case.view).is_empty());
        first.get_or_insert_with(|| (job.case.view.case.to_string(), request));
    }
    // Four characters a token is the rule of thumb for English; an answer is some 60 tokens a label.
    let asked = desk.rubric.labels.iter().filter(|label| label.asked).count() as u64;
    let (prompt_tokens, answer_tokens) = (characters.div_ceil(4), requests * asked * 60);
    let estimate = Estimate {
        requests,
        characters,
        prompt_tokens,
        answer_tokens,
        cost: price.of(prompt_tokens, answer_tokens),
        cases_with_text_that_addresses_the_rater: flagged,
    };
    if args.json {
        let body = first.map(|(case, request)| {
            let body = request.body(&args.model, parameters, 1, args.parameters.first_form());
            serde_json::json!({ "case": case, "body": body })
        });
        return output.json(&serde_json::json!({ "first": body, "estimate": estimate }));
    }
    let Some((case, request)) = first else {
        output.line("nothing is left to ask for");
        return Ok(());
    };
    output.line(format!("── the first of {requests} requests: {case}"));
    for (role, content) in request.messages() {
        output.line(format!("── {role}\n{content}"));
    }
    if !args.parameters.no_schema {
        let schema = serde_json::to_string_pretty(request.schema()).unwrap_or_default();
        output.line(format!("── schema of the answer\n{schema}"));
    }
    output.line(format!("── parameters\n{}\n── estimate", parameters.written()));
    output.line(format!(
        "{requests} requests, {characters} characters: about {prompt_tokens} tokens of prompt and {answer_tokens} of answer \
         (4 characters a token, 60 tokens a label), more where a reply has to be asked for again or the model thinks aloud"
    ));
    match estimate.cost {
        Some(cost) => output.line(format!("about {cost:.2} at {}", price.words())),
        None => output.line("--price-in and --price-out (per million tokens) turn this into a price"),
    }
    if flagged > 0 {
        output.line(format!("{} hold text that addresses the rater", super::cases(flagged)));
    }
    if work.done + work.answered_otherwise > 0 {
        output.line(format!(
            "not asked again: {} answered before, {} answered by sheet",
            work.done, work.answered_otherwise
        ));
    }
    Ok(())
}
