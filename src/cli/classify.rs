//! `dualrater classify`: the action class of emissions from stdin.

use std::io::{self, BufRead as _};

use super::Output;
use crate::action::{CallForm, Classified, Classifier, JsonError, JsonProblem, RuleSet};
use crate::error::{Error, Kind, Place, Result};
use crate::model::ActionClass;

/// Classify emissions from stdin, one JSON value a line
///
/// Classify emissions from stdin, one JSON value a line; prints a class a line (`none`: nothing to classify).
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: printf '%s\\n' '\"Which folder?\"' '[{\"ls\":\"{}\"}]' | dualrater classify")]
pub struct Args {
    /// The rule set
    #[arg(long, default_value = "paper", value_parser = ["paper", "strict"])]
    rules: String,
    /// Print class, form, cue with its byte offset, and tools called as one JSON object a line
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, output: &mut Output) -> Result<()> {
    let rules = RuleSet::parse(&args.rules).unwrap_or(RuleSet::Paper);
    let classifier = Classifier::of(rules).map_err(|error| Error::usage(error.to_string()))?;
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = input
            .read_until(b'\n', &mut line)
            .map_err(|error| Error::new(Kind::Io, format!("cannot read stdin: {error}")))?;
        if read == 0 {
            break;
        }
        let place = |column: usize| Place { file: "stdin".into(), line: Some(number), column: Some(column as u64 + 1) };
        let text = std::str::from_utf8(&line)
            .map_err(|error| Error::data("the line is not UTF-8").at(place(error.valid_up_to())))?;
        let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        if text.trim().is_empty() {
            continue;
        }
        let found = classifier.classify_json(text);
        // Deeper than the classifier goes, there is nothing to classify.
        let too_deep = |error: &JsonError| error.problem == JsonProblem::TooDeep;
        let found = if found.as_ref().is_err_and(too_deep) { Ok(Classified::default()) } else { found };
        let found = found.map_err(|error| {
            Error::data(error.problem.to_string())
                .at(place(error.offset))
                .hint("every line is one JSON value: a text in quotes, a list or an object")
        })?;
        if args.json {
            let cue = found.cue.as_ref().map(|cue| serde_json::json!({"cue": cue.cue, "offset": cue.offset}));
            let record = serde_json::json!({
                "class": found.class.map(ActionClass::as_str),
                "form": found.form.map(CallForm::as_str),
                "cue": cue,
                "calls": found.calls,
            });
            output.line(record);
        } else {
            output.line(found.class.map_or("none", ActionClass::as_str));
        }
    }
    Ok(())
}
