//! The rubrics that the program carries with it.

use super::{Rubric, RubricError, parse};

/// Ids of the rubrics that are compiled in.
pub const BUNDLED: [&str; 1] = ["mechanism-v2"];

/// The TOML text of a compiled-in rubric.
#[must_use]
pub fn bundled_text(id: &str) -> Option<&'static str> {
    match id {
        "mechanism-v2" => Some(include_str!("../../rubrics/mechanism-v2.toml")),
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
}
