//! Fields of a posted form. A field that stands several times is a set of values.

use super::reply::Refusal;
use super::save::{Given, LONGEST};
use crate::model::LabelId;

/// The fields as they came.
pub(super) struct Fields(pub Vec<(String, String)>);

impl Fields {
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    /// A text of limited length, with the line breaks that were typed (forms send them as CR LF).
    pub(super) fn text(&self, name: &str, longest: usize) -> Result<String, Refusal> {
        let text = self.get(name).replace("\r\n", "\n");
        if text.len() > longest { Err(Refusal::unusable(&format!("{name} is too long"))) } else { Ok(text) }
    }

    /// All values of a field, joined as a set.
    pub(super) fn values(&self, name: &str) -> String {
        let values: Vec<&str> = self
            .0
            .iter()
            .filter(|(field, value)| field == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
            .collect();
        values.join("+")
    }

    /// The answer in the form.
    pub(super) fn given(&self) -> Result<Given, Refusal> {
        let label = LabelId::parse(self.get("label")).map_err(|_| Refusal::unusable("no such label"))?;
        let value = self.values("value");
        if value.len() > LONGEST {
            return Err(Refusal::unusable("value is too long"));
        }
        Ok(Given { label, value, rationale: self.text("rationale", LONGEST)?, digest: self.get("digest").to_owned() })
    }

    /// A visit and how long it has lasted; `None` where the form does not say.
    pub(super) fn visit(&self) -> Option<(String, u32)> {
        let visit = self.get("visit");
        let sound = (8..=40).contains(&visit.len()) && visit.chars().all(|c| c.is_ascii_alphanumeric());
        let seconds: u32 = self.get("seconds").parse().ok()?;
        // Nobody looks at one case for more than four hours.
        (sound && seconds > 0).then(|| (visit.to_owned(), seconds.min(4 * 60 * 60)))
    }
}
