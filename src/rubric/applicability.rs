//! Does a label apply to a case?

use serde::Serialize;

use super::Label;
use crate::model::Category;

/// Whether a label applies to a case, as far as category and stratum say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Applicability {
    /// It applies: *n.a.* is no answer.
    Applies,
    /// It does not: *n.a.* is the only answer.
    NotApplicable,
    /// The rater decides by reading the case.
    RaterDecides,
}

/// Whether a label applies to a case of this category and stratum.
#[must_use]
pub fn applicability(label: &Label, category: Category, stratum: &str) -> Applicability {
    let applies = &label.applies;
    let outside_categories = applies.categories.as_ref().is_some_and(|set| !set.contains(&category));
    let outside_strata = applies.strata.as_ref().is_some_and(|set| !set.iter().any(|id| id.as_str() == stratum));
    if outside_categories || outside_strata {
        Applicability::NotApplicable
    } else if applies.when.is_some() {
        Applicability::RaterDecides
    } else {
        Applicability::Applies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::bundled;

    /// The table of the published rubric: B3 only for miss_func, B7 only in strata D and F, B6 by the rater's reading.
    #[test]
    fn labels_of_the_published_audit_apply_as_published() {
        let rubric = bundled("mechanism-v2").expect("bundled");
        for category in Category::ALL {
            for stratum in ["A", "B", "C", "D", "E", "F", "G"] {
                for (label, found) in rubric.applicabilities(category, stratum) {
                    let expected = match label.id.as_str() {
                        "B3" if category != Category::MissFunc => Applicability::NotApplicable,
                        "B7" if !["D", "F"].contains(&stratum) => Applicability::NotApplicable,
                        "B6" => Applicability::RaterDecides,
                        _ => Applicability::Applies,
                    };
                    assert_eq!(found, expected, "{} in {category}, stratum {stratum}", label.id);
                }
            }
        }
    }
}
