//! Does a case of a run fit the data set that it is said to come from? Data sets change between versions; a case that
//! does not fit is reported and never joined in silence.

use super::dataset::DatasetEntry;
use super::log::announces_return;

/// How a case fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitStatus {
    /// Every logged question equals the data set's.
    Verified,
    /// No log to compare; the turn counts do not contradict.
    Unverifiable,
    /// Does not fit; not joined.
    Mismatch,
    /// The data set has no such entry; not joined.
    Absent,
}

impl FitStatus {
    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Unverifiable => "unverifiable",
            Self::Mismatch => "mismatch",
            Self::Absent => "absent",
        }
    }
}

/// The fit of one case with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// How it fits.
    pub status: FitStatus,
    /// Why, in words.
    pub reason: Option<String>,
}

impl Fit {
    fn new(status: FitStatus, reason: impl Into<String>) -> Self {
        Self { status, reason: Some(reason.into()) }
    }
}

/// Compares a case with its entry. `turns`: turns in the result (0 for a failed inference); `logged`: the user's words per
/// turn from the run's own log.
pub fn fit(entry: Option<&DatasetEntry>, id: &str, turns: usize, logged: Option<&[String]>) -> Fit {
    let Some(entry) = entry else {
        return Fit::new(FitStatus::Absent, format!("the data set has no entry {id}"));
    };
    let expected = entry.user_turns.len();
    if turns > expected {
        return Fit::new(FitStatus::Mismatch, format!("the run has {turns} turns, the data set {expected}"));
    }
    let Some(logged) = logged else {
        let reason = match turns {
            0 => "no result and no log to compare with".to_owned(),
            _ if turns < expected => format!("no log to compare with; {turns} of {expected} turns"),
            _ => "no log to compare with; the turn counts agree".to_owned(),
        };
        return Fit::new(FitStatus::Unverifiable, reason);
    };
    if logged.len() > expected {
        return Fit::new(FitStatus::Mismatch, format!("the log has {} turns, the data set {expected}", logged.len()));
    }
    for (turn, (said, asked)) in logged.iter().zip(&entry.user_turns).enumerate() {
        let same = said == asked || (asked.is_empty() && announces_return(said));
        if !same {
            return Fit::new(FitStatus::Mismatch, format!("the question of turn {turn} differs from the data set's"));
        }
    }
    Fit { status: FitStatus::Verified, reason: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(turns: &[&str]) -> DatasetEntry {
        DatasetEntry {
            user_turns: turns.iter().map(|turn| (*turn).to_owned()).collect(),
            ground_truth: None,
            held_out_tools: Vec::new(),
            return_turn: None,
        }
    }

    #[test]
    fn a_case_is_joined_only_where_nothing_contradicts() {
        let data = entry(&["a", "", "c"]);
        let back = "I have updated some more functions you can choose from. What about now?".to_owned();
        let logged = ["a".to_owned(), back, "c".to_owned()];
        assert_eq!(fit(Some(&data), "x", 3, Some(&logged)).status, FitStatus::Verified);
        assert_eq!(fit(Some(&data), "x", 3, Some(&logged[..1])).status, FitStatus::Verified);
        let other = ["a".to_owned(), "b".to_owned()];
        assert_eq!(fit(Some(&data), "x", 2, Some(&other)).status, FitStatus::Mismatch);
        assert_eq!(fit(Some(&data), "x", 4, None).status, FitStatus::Mismatch);
        assert_eq!(fit(Some(&data), "x", 2, None).status, FitStatus::Unverifiable);
        assert_eq!(fit(None, "x", 2, None).status, FitStatus::Absent);
    }
}
