//! The rubrics that the program carries with it.

use super::{Rubric, RubricError, parse};

/// Ids of the rubrics that are compiled in.
pub const BUNDLED: [&str; 7] = [
    "mechanism-v2",
    "mechanism-v3",
    "ask-candidate-v1",
    "confirm-v1",
    "confirm-paper-v1",
    "tau2-simulation-v1",
    "chat-v1",
];

/// The TOML text of a compiled-in rubric.
#[must_use]
pub fn bundled_text(id: &str) -> Option<&'static str> {
    match id {
        "mechanism-v2" => Some(include_str!("../../rubrics/mechanism-v2.toml")),
        "mechanism-v3" => Some(include_str!("../../rubrics/mechanism-v3.toml")),
        "ask-candidate-v1" => Some(include_str!("../../rubrics/ask-candidate-v1.toml")),
        "confirm-v1" => Some(include_str!("../../rubrics/confirm-v1.toml")),
        "confirm-paper-v1" => Some(include_str!("../../rubrics/confirm-paper-v1.toml")),
        "tau2-simulation-v1" => Some(include_str!("../../rubrics/tau2-simulation-v1.toml")),
        "chat-v1" => Some(include_str!("../../rubrics/chat-v1.toml")),
        _ => None,
    }
}

/// A compiled-in rubric; `None` if there is none of this id.
#[must_use]
pub fn bundled(id: &str) -> Option<Rubric> {
    let parsed: Result<Rubric, RubricError> = parse(bundled_text(id)?);
    parsed.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LabelId;

    #[test]
    fn every_bundled_rubric_is_sound_and_named_as_it_says() {
        for id in BUNDLED {
            let text = bundled_text(id).expect("bundled");
            let rubric = parse(text).expect("sound");
            assert_eq!(rubric.id, id);
        }
    }

    /// Labels, kinds, primary set and failure classes of the published audit (there is no B2).
    #[test]
    fn mechanism_v2_has_the_published_labels() {
        let rubric = bundled("mechanism-v2").expect("bundled");
        let ids: Vec<&str> = rubric.labels.iter().map(|label| label.id.as_str()).collect();
        assert_eq!(ids, ["B1a", "B1b", "B3", "B4", "B5", "B6", "B7"]);
        let primary: Vec<&str> = rubric.primary.iter().map(LabelId::as_str).collect();
        assert_eq!(primary, ["B1a", "B1b", "B3", "B4", "B5"]);
        let (last, others) = rubric.labels.split_last().expect("labels");
        assert!(others.iter().all(|label| label.values() == ["0", "1"]));
        let mut classes = last.values();
        classes.sort_unstable();
        let published = ["history_edit_artifact", "recon_prompt_overfit", "state_inject_misuse", "unclassified"];
        assert_eq!(classes, published);
    }

    /// What version 3 is to change, and nothing else about the list of labels.
    #[test]
    fn mechanism_v3_splits_b3_and_does_not_ask_b5() {
        let rubric = bundled("mechanism-v3").expect("bundled");
        let ids: Vec<&str> = rubric.labels.iter().map(|label| label.id.as_str()).collect();
        assert_eq!(ids, ["B1a", "B1b", "B3_while_absent", "B3_after_return", "B4", "B5", "B6", "B7"]);
        let closed: Vec<&str> =
            rubric.labels.iter().filter(|label| !label.asked).map(|label| label.id.as_str()).collect();
        assert_eq!(closed, ["B5"]);
        assert_eq!(rubric.gold_turn, crate::rubric::GoldTurnRule::GroundTruth);
        assert!(rubric.labels.iter().all(|label| label.readings.is_empty()), "B4 has one reading");
    }

    /// A cause without its event is not offered; without a log all are.
    #[test]
    fn b7_offers_what_the_event_log_makes_possible() {
        let rubric = bundled("mechanism-v3").expect("bundled");
        let b7 = rubric.label(&LabelId::parse("B7").expect("valid")).expect("B7");
        let offered = |events: Option<&[&str]>| -> Vec<String> {
            let events = events.map(|events| events.iter().map(ToString::to_string).collect());
            b7.offered(events.as_ref()).into_iter().map(|choice| choice.id.clone()).collect()
        };
        assert_eq!(offered(None).len(), 4);
        assert_eq!(offered(Some(&["history_edited"])), ["history_edit_artifact", "unclassified"]);
        assert_eq!(offered(Some(&[])), ["unclassified"]);
    }
}
