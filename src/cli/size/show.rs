//! The answer as text.

use super::Answered;
use crate::cli::{Output, output};

pub(super) fn show(answer: &Answered, output: &mut Output) {
    let what = match answer.of.as_str() {
        "rate" => "a rate",
        "gar" => "the corrected GAR",
        _ => "kappa",
    };
    let population =
        answer.population.map_or_else(|| "a large population".to_owned(), |count| format!("{count} cases"));
    match (answer.n, answer.expected_half_width) {
        (Some(n), Some(width)) => output
            .line(format!("{n} of {population}: {what} ± {width:.3} at level {} ({})", answer.level, answer.guess)),
        _ => output
            .line(format!("{what} ± {} is not reached in {population} ({})", answer.wanted_half_width, answer.guess)),
    }
    if answer.strata.len() > 1 {
        let rows: Vec<Vec<String>> = answer
            .strata
            .iter()
            .map(|row| {
                vec![
                    row.stratum.clone(),
                    row.population.map_or_else(|| "–".to_owned(), |count| count.to_string()),
                    row.pilot_n.to_string(),
                    output::percent(Some(row.guessed_rate * 100.0)),
                    row.cases.to_string(),
                ]
            })
            .collect();
        output.table(&["stratum", "N", "pilot n", "guessed rate %", "quota"], &rows, &[1, 2, 3, 4]);
    }
    if let (Some(times), Some(total)) = (answer.minutes_per_case, answer.rater_minutes) {
        let source = if times.from_gaps == 0 {
            "as stated".to_owned()
        } else {
            format!("median of {} recorded gaps between cases", times.from_gaps)
        };
        output.line(format!(
            "two raters, {:.1} minutes a case ({source}): {total:.0} rater minutes, rulings not counted",
            times.per_case
        ));
    }
    for note in &answer.notes {
        output.line(format!("note: {note}"));
    }
}
