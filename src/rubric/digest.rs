//! The digest that pins every rating to the rubric under which it was made.

use super::{Label, LabelKind, Rubric, Rule, RuleKind, Term};
use crate::digest::Canonical;
use crate::model::{LabelId, StratumId};

impl Rubric {
    /// SHA-256 over the canonical bytes of everything that the rubric says. It covers the parsed content: comments,
    /// line breaks and the order of keys in the file do not count, the order of labels, values, steps and rules does.
    ///
    /// The order of the fields below is part of the format; digests are stored.
    #[must_use]
    pub fn digest(&self) -> String {
        let shown: Vec<&str> = self.show.iter().map(|item| item.as_str()).collect();
        let primary: Vec<&str> = self.primary.iter().map(LabelId::as_str).collect();
        let mut writer = Canonical::new("rubric/1")
            .text(&self.id)
            .number(self.version)
            .text(&self.title)
            .text(&self.about)
            .text(self.gold_turn.as_str())
            .text(self.rationale.as_str())
            .list(&primary)
            .list(&shown)
            .list(&self.guidance)
            .number(self.labels.len() as u64);
        for label in &self.labels {
            writer = write_label(writer, label);
        }
        writer = writer.number(self.rules.len() as u64);
        for rule in &self.rules {
            writer = write_rule(writer, rule);
        }
        // Only where it is said, so that digests of rubrics without it stay what they were.
        if let Some(rule) = &self.dialogue {
            let arguments = if rule.arguments { "arguments" } else { "no arguments" };
            writer = writer.text("dialogue").text(&rule.window.text()).text(arguments);
            if !rule.aside {
                writer = writer.text("nothing aside");
            }
        }
        writer.finish()
    }
}

fn write_label(writer: Canonical, label: &Label) -> Canonical {
    let mut writer = writer.text(label.id.as_str()).text(&label.title).text(&label.question);
    writer = match &label.kind {
        LabelKind::Binary => writer.text("binary"),
        LabelKind::Choice(choices) => {
            let mut writer = writer.text("choice").number(choices.len() as u64);
            for choice in choices {
                writer = writer.text(&choice.id).text(&choice.title).text(&choice.help);
            }
            writer
        }
        LabelKind::Choices(choices) => {
            let mut writer = writer.text("choices").number(choices.len() as u64);
            for choice in choices {
                writer = writer.text(&choice.id).text(&choice.title).text(&choice.help);
                writer = writer.optional(choice.needs.as_deref()).text(if choice.alone { "1" } else { "0" });
            }
            writer
        }
    };
    let applies = &label.applies;
    let categories = applies.categories.as_ref().map(|set| set.iter().map(|c| c.as_str()).collect::<Vec<_>>());
    let strata = applies.strata.as_ref().map(|set| set.iter().map(StratumId::as_str).collect::<Vec<_>>());
    for list in [categories, strata] {
        writer = match list {
            None => writer.optional(None),
            Some(items) => writer.optional(Some("")).list(&items),
        };
    }
    writer = writer
        .optional(applies.when.as_deref())
        .text(label.na.as_str())
        // In one field, so that the digests of rubrics that ask every label stay what they were.
        .text(match (label.may_cannot_judge, label.asked) {
            (true, true) => "1",
            (false, true) => "0",
            (true, false) => "1 not asked",
            (false, false) => "0 not asked",
        })
        .list(&label.steps)
        .number(label.readings.len() as u64);
    for reading in &label.readings {
        writer = writer.text(&reading.id).text(&reading.text).text(if reading.used { "1" } else { "0" });
    }
    writer = writer.number(label.examples.len() as u64);
    for example in &label.examples {
        writer = writer.text(&example.case).text(example.answer.as_str()).text(&example.why);
    }
    writer
}

fn write_rule(writer: Canonical, rule: &Rule) -> Canonical {
    let writer = writer.text(&rule.id).text(rule.severity.as_str()).text(&rule.because);
    match &rule.kind {
        RuleKind::Implies { given, then } => write_terms(write_terms(writer.text("implies"), given), then),
        RuleKind::Equals { label, one_when } => write_terms(writer.text("equals").text(label.as_str()), one_when),
    }
}

fn write_terms(writer: Canonical, terms: &[Term]) -> Canonical {
    let mut writer = writer.number(terms.len() as u64);
    for term in terms {
        writer = match term {
            Term::Label { label, is } => writer.text("label").text(label.as_str()).text(is),
            Term::Verdict(verdict) => writer.text("verdict").text(verdict.as_str()),
            Term::Category(category) => writer.text("category").text(category.as_str()),
        };
    }
    writer
}

#[cfg(test)]
mod tests {
    use crate::rubric::{bundled_text, parse};

    fn digest(text: &str) -> String {
        parse(text).expect("sound").digest()
    }

    #[test]
    fn comments_blank_lines_line_breaks_and_key_order_keep_the_digest() {
        let text = bundled_text("mechanism-v2").expect("bundled");
        let original = digest(text);
        assert_eq!(original.len(), 64);
        assert_eq!(digest(&text.replace("\n\n[[", "\n\n# a remark\n\n[[")), original);
        assert_eq!(digest(&text.replace('\n', "\r\n")), original);
        assert_eq!(digest(&text.replace(" = ", "   =  ")), original);
        assert_eq!(
            digest(&text.replace("version = 2\ntitle", "title").replace("about =", "version = 2\nabout =")),
            original
        );
        // The order of the show list means nothing; the same words broken elsewhere are the same words.
        assert_eq!(digest(&text.replace("\"category\",\n  \"stratum\",", "\"stratum\",\n  \"category\",")), original);
        assert_eq!(digest(&text.replace("at one turn or over the\nwhole", "at one turn\nor over the whole")), original);
    }

    #[test]
    fn what_the_rubric_says_changes_the_digest() {
        let text = bundled_text("mechanism-v2").expect("bundled");
        let original = digest(text);
        let changes = [
            ("version = 2", "version = 3"),
            ("id = \"mechanism-v2\"", "id = \"mechanism-v2b\""),
            ("title = \"Mechanism audit", "title = \"An audit"),
            ("Why did the model", "How did the model"),
            ("Turns count from 0", "Turns count from one"),
            ("title = \"Gold action at the gold turn\"", "title = \"Gold action\""),
            ("id = \"B1b\"\ntitle", "id = \"B1x\"\ntitle"),
            ("categories = [\"miss_func\"]", "categories = [\"miss_param\"]"),
            ("The baseline ends with", "The run ends with"),
            ("Go to the turn", "Look at the turn"),
            ("id = \"before_any_call\"", "id = \"before_calls\""),
            ("Its definition", "The definition"),
            ("used = true },\n  { id = \"before", "used = false },\n  { id = \"before"),
            ("{ case = \"miss_param, gold", "{ case = \"Miss_param, gold"),
            ("why = \"The call makes it", "why = \"One call makes it"),
            ("answer = \"1\"", "answer = \"0\""),
            ("id = \"unclassified\"", "id = \"none\""),
            ("title = \"None of these\"", "title = \"Other\""),
            ("help = \"The difference", "help = \"A difference"),
            ("id = \"B6\"", "id = \"B8\""),
            ("then = [{ label = \"B1b\"", "then = [{ label = \"B4\""),
            ("label = \"B5\"\none_when", "label = \"B4\"\none_when"),
            ("id = \"late-follows-gold\"", "id = \"late\""),
            ("because = \"the gold turn", "because = \"a gold turn"),
            ("if = [{ label = \"B1a\", is = \"1\" }]", "if = [{ label = \"B1a\", is = \"0\" }]"),
            ("\"grader_detail\",\n", ""),
            ("Is the class of the gold turn", "Was the class of the gold turn"),
            ("strata = [\"D\", \"F\"]", "strata = [\"D\"]"),
            ("severity = \"error\"", "severity = \"warn\""),
            ("gold_turn = \"zero_for_missing\"", "gold_turn = \"ground_truth\""),
            ("rationale = \"expected\"", "rationale = \"optional\""),
            ("[\"B1a\", \"B1b\", \"B3\", \"B4\", \"B5\"]", "[\"B1b\", \"B1a\", \"B3\", \"B4\", \"B5\"]"),
            ("may_cannot_judge = true", "may_cannot_judge = false"),
            ("verdict = \"PASS\"", "verdict = \"FAIL\""),
        ];
        let mut seen = vec![original];
        for (from, to) in changes {
            let mut changed = text.replacen(from, to, 1);
            // What the change makes unsound elsewhere is put right.
            if from.starts_with("id = \"B1b\"") {
                changed = changed.replace("\"B1b\"", "\"B1x\"");
            } else if from.starts_with("used = true") {
                changed = changed.replacen(
                    "first tool call of the case.\", used = false",
                    "first tool call of the case.\", used = true",
                    1,
                );
            }
            assert_ne!(changed, text, "{from} stands in the file");
            let digest = digest(&changed);
            assert!(!seen.contains(&digest), "{from} -> {to}");
            seen.push(digest);
        }
    }
}
