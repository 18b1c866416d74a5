//! The published labels of the ASK candidates: which of the 41 tasks found by keyword do call for a question, and which
//! were in the published subset.

use serde::{Deserialize, Serialize};

use super::Domain;

/// What an ASK candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskLabel {
    /// The agent must ask for something to solve the task.
    Valid,
    /// It can be read either way.
    Ambiguous,
    /// It need not.
    FalsePositive,
}

/// A published label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishedAsk {
    /// The task.
    pub task: &'static str,
    /// Its label.
    pub label: AskLabel,
    /// Was it in the published subset?
    pub in_paper: bool,
}

const AIRLINE: [(&str, char, bool); 13] = [
    ("2", 'A', true),
    ("8", 'F', false),
    ("10", 'F', true),
    ("19", 'V', true),
    ("20", 'V', true),
    ("21", 'V', true),
    ("22", 'V', true),
    ("29", 'F', false),
    ("33", 'F', false),
    ("34", 'F', false),
    ("35", 'V', true),
    ("38", 'F', false),
    ("42", 'V', true),
];

/// All of retail's candidates were in the published subset.
const RETAIL_VALID: [&str; 13] = ["45", "46", "47", "67", "68", "71", "72", "74", "88", "93", "94", "95", "113"];
const RETAIL_FALSE: [&str; 15] = ["5", "6", "7", "8", "9", "12", "13", "14", "18", "21", "24", "84", "91", "92", "98"];

/// The published labels of a domain.
pub fn published_ask_labels(domain: Domain) -> Box<dyn Iterator<Item = PublishedAsk>> {
    let label = |letter| match letter {
        'V' => AskLabel::Valid,
        'A' => AskLabel::Ambiguous,
        _ => AskLabel::FalsePositive,
    };
    match domain {
        Domain::Airline => Box::new(AIRLINE.into_iter().map(move |(task, letter, in_paper)| PublishedAsk {
            task,
            label: label(letter),
            in_paper,
        })),
        Domain::Retail => {
            let all = |label| move |task| PublishedAsk { task, label, in_paper: true };
            let valid = RETAIL_VALID.into_iter().map(all(AskLabel::Valid));
            Box::new(valid.chain(RETAIL_FALSE.into_iter().map(all(AskLabel::FalsePositive))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The totals of the published label file: 13 and 28 candidates, 8 and 28 in the paper's subset, 6 and 13 valid.
    #[test]
    fn totals_are_the_published_ones() {
        for (domain, totals) in [(Domain::Airline, [13, 8, 6, 1]), (Domain::Retail, [28, 28, 13, 0])] {
            let labels: Vec<PublishedAsk> = published_ask_labels(domain).collect();
            let count = |label| labels.iter().filter(|item| item.label == label).count();
            let in_paper = labels.iter().filter(|item| item.in_paper).count();
            assert_eq!([labels.len(), in_paper, count(AskLabel::Valid), count(AskLabel::Ambiguous)], totals);
        }
    }
}
