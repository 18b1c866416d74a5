//! The class of a text that is no call: published cues that the rules leave, and cues that they add.

use std::ops::Range;

use super::super::classifier::Classifier;
use super::super::cues::CueMatch;
use super::masks::Masks;
use super::patterns::Patterns;
use super::rules::{StrictRule, StrictRules};
use super::sentences::{Sentence, sentences};
use super::verdict::{RuleEffect, RuleHit};
use crate::model::ActionClass;

/// The class of a text and the cue that decided. What the rules did is added to `fired`.
pub(super) fn text_class(text: &str, rules: &StrictRules, fired: &mut Vec<RuleHit>) -> (ActionClass, Option<CueMatch>) {
    let reader = Reader::new(text, rules);
    let mut left: Vec<CueMatch> = Vec::new();
    let mut refusals = RefusalFacts::default();
    for cue in Classifier::paper().cues(text) {
        match reader.ignored(&cue, &mut refusals) {
            None => left.push(cue),
            Some(rule) => {
                fired.push(RuleHit {
                    rule,
                    cue: cue.cue.clone(),
                    offset: cue.offset,
                    effect: RuleEffect::Ignores(cue.class),
                });
                if rule == StrictRule::RefusalForInput {
                    fired.push(RuleHit {
                        rule,
                        cue: cue.cue.clone(),
                        offset: cue.offset,
                        effect: RuleEffect::Adds(ActionClass::Ask),
                    });
                    left.push(CueMatch { class: ActionClass::Ask, ..cue });
                }
            }
        }
    }
    for (rule, cue) in reader.added() {
        fired.push(RuleHit { rule, cue: cue.cue.clone(), offset: cue.offset, effect: RuleEffect::Adds(cue.class) });
        left.push(cue);
    }
    // Of the highest class the cue that begins first, and of those the longest, as the published classifier reports it.
    let best = left.into_iter().min_by_key(|cue| (cue.class, cue.offset, usize::MAX - cue.cue.len()));
    (best.as_ref().map_or(ActionClass::Other, |cue| cue.class), best)
}

/// What a sentence says around its refuse cues; computed once a sentence.
#[derive(Default)]
struct RefusalFacts {
    sentence: Option<usize>,
    negated: Vec<Range<usize>>,
    capability: bool,
    state: bool,
    for_input: bool,
}

impl RefusalFacts {
    fn of(patterns: &Patterns, sentence: usize, text: &str) -> Self {
        Self {
            sentence: Some(sentence),
            negated: patterns.negated_refusal.find_iter(text).map(|found| found.range()).collect(),
            capability: patterns.capability.is_match(text) && !patterns.call_report.is_match(text),
            state: patterns.state.is_match(text),
            for_input: patterns.refusal_for_input.is_match(text),
        }
    }

    /// Does a negation reach into these bytes of the sentence? The negations follow one another without overlap.
    fn is_negated(&self, start: usize, end: usize) -> bool {
        let at = self.negated.partition_point(|found| found.end <= start);
        self.negated.get(at).is_some_and(|found| found.start < end)
    }
}

/// The end of a text: as much of it as the phrases in front of a cue can need.
fn last_bytes(text: &str) -> &str {
    const ENOUGH: usize = 300;
    let start = text.len().saturating_sub(ENOUGH);
    (start..=text.len()).find_map(|start| text.get(start..)).unwrap_or_default()
}

/// A text cut into sentences, with what the rules need to know of each.
struct Reader<'r> {
    rules: &'r StrictRules,
    patterns: &'static Patterns,
    masks: Masks,
    /// The masked text with spaces for the marks of emphasis.
    plain: String,
    sentences: Vec<Sentence>,
    /// Per sentence, the rule that makes it a courtesy or an offer.
    polite: Vec<Option<StrictRule>>,
    /// Per sentence: does it hold a question mark of any kind? Found once, since a sentence can hold many cues.
    marked: Vec<bool>,
}

impl<'r> Reader<'r> {
    fn new(text: &str, rules: &'r StrictRules) -> Self {
        let patterns = Patterns::strict();
        let masks = Masks::of(text, rules);
        let plain = masks.text.replace('*', " ");
        let sentences = sentences(&plain, |c| c == '?' || patterns.question_marks.contains(&c));
        let mut reader = Self { rules, patterns, masks, plain, sentences, polite: Vec::new(), marked: Vec::new() };
        reader.polite = reader.politeness();
        let is_mark = |c| c == '?' || patterns.question_marks.contains(&c);
        reader.marked = reader.sentences.iter().map(|sentence| reader.text_of(sentence).contains(is_mark)).collect();
        reader
    }

    fn text_of(&self, sentence: &Sentence) -> &str {
        self.plain.get(sentence.span.clone()).unwrap_or_default()
    }

    /// Which sentences are courtesies or offers: by their own words, or as items of a list that an offer leads.
    fn politeness(&self) -> Vec<Option<StrictRule>> {
        let mut out = Vec::with_capacity(self.sentences.len());
        let mut lead: Option<StrictRule> = None;
        for sentence in &self.sentences {
            let text = self.text_of(sentence);
            if sentence.starts_line && !sentence.item {
                lead = None;
            }
            let own = self.polite_words(text);
            let rule = own.or(lead);
            if text.trim_end().ends_with(':') && own.is_some() {
                lead = own;
            }
            out.push(rule.filter(|rule| self.rules.has(*rule)));
        }
        out
    }

    fn polite_words(&self, text: &str) -> Option<StrictRule> {
        if self.patterns.conditional_offer.is_match(text) {
            return Some(StrictRule::Offer);
        }
        if self.patterns.ask_core.is_match(text) {
            return None;
        }
        if self.patterns.courtesy_question.is_match(text) {
            return Some(StrictRule::CourtesyQuestion);
        }
        let offer = self.patterns.offer.is_match(text) && !self.patterns.open_question.is_match(text);
        offer.then_some(StrictRule::Offer)
    }

    /// The number of the sentence that holds a byte.
    fn sentence_at(&self, offset: usize) -> Option<usize> {
        let at = self.sentences.partition_point(|sentence| sentence.span.end <= offset);
        self.sentences.get(at).is_some_and(|sentence| sentence.span.contains(&offset)).then_some(at)
    }

    /// The rule that ignores a published cue, if any.
    fn ignored(&self, cue: &CueMatch, refusals: &mut RefusalFacts) -> Option<StrictRule> {
        if let Some(rule) = self.masks.rule_at(cue.offset) {
            return Some(rule);
        }
        let at = self.sentence_at(cue.offset)?;
        let sentence = self.sentences.get(at)?;
        let rule = match cue.class {
            ActionClass::Refuse => {
                if refusals.sentence != Some(at) {
                    *refusals = RefusalFacts::of(self.patterns, at, self.text_of(sentence));
                }
                self.no_refusal(sentence, cue, refusals)
            }
            ActionClass::Ask => self.no_ask(at, sentence, cue),
            _ => None,
        };
        rule.filter(|rule| self.rules.has(*rule))
    }

    fn no_refusal(&self, sentence: &Sentence, cue: &CueMatch, facts: &RefusalFacts) -> Option<StrictRule> {
        let patterns = self.patterns;
        let start = cue.offset.checked_sub(sentence.span.start)?;
        let end = start + cue.cue.len();
        if self.rules.has(StrictRule::NegatedRefusal) && facts.is_negated(start, end) {
            return Some(StrictRule::NegatedRefusal);
        }
        let before = last_bytes(self.text_of(sentence).get(..start).unwrap_or_default());
        // Some cues hold their speaker.
        let speaker = patterns.speaker.is_match(before) || cue.cue.starts_with("i ");
        let request = patterns.request.is_match(before);
        if self.rules.has(StrictRule::RefusalForInput) && !facts.capability && (speaker || request) && facts.for_input {
            return Some(StrictRule::RefusalForInput);
        }
        let declines = if speaker {
            facts.capability || !facts.state
        } else if patterns.attempt.is_match(before) {
            facts.capability && !facts.state
        } else {
            !facts.state && (facts.capability || request)
        };
        (!declines).then_some(StrictRule::ReportedError)
    }

    fn no_ask(&self, at: usize, sentence: &Sentence, cue: &CueMatch) -> Option<StrictRule> {
        if let Some(rule) = self.polite.get(at).copied().flatten() {
            return Some(rule);
        }
        let text = self.text_of(sentence);
        if !self.marked.get(at).copied().unwrap_or_default() && self.patterns.statement_cues.contains(&cue.cue) {
            return Some(StrictRule::StatementCue);
        }
        if self.patterns.plan_cues.contains(&cue.cue) {
            let start = cue.offset.checked_sub(sentence.span.start)?;
            // A typographic apostrophe is longer than the cue's; the words behind it are what counts.
            let behind = text.get(start..)?.split_whitespace().skip(cue.cue.split_whitespace().count());
            let mut behind = behind.map(str::to_ascii_lowercase);
            if behind.next().as_deref() == Some("to")
                && behind.next().is_some_and(|verb| !self.patterns.question_verbs.contains(&verb))
            {
                return Some(StrictRule::StatementCue);
            }
        }
        None
    }

    /// The cues that rules add, in the order of the text.
    fn added(&self) -> Vec<(StrictRule, CueMatch)> {
        let patterns = self.patterns;
        let mut out = Vec::new();
        for (at, sentence) in self.sentences.iter().enumerate() {
            let text = self.text_of(sentence);
            let polite = self.polite_words(text).is_some() || self.polite.get(at).copied().flatten().is_some();
            let mut add = |rule, class, found: Option<(usize, &str)>| {
                if let Some((start, cue)) = found.filter(|_| self.rules.has(rule)) {
                    let cue = cue.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
                    out.push((rule, CueMatch { cue, offset: sentence.span.start + start, class }));
                }
            };
            let found = |pattern: &regex::Regex| pattern.find(text).map(|found| (found.start(), found.as_str()));
            // What an `if` or a question takes back is no refusal.
            if !patterns.negated_refusal.is_match(text) && !patterns.call_report.is_match(text) {
                add(StrictRule::UncuedRefusal, ActionClass::Refuse, found(&patterns.uncued_refusal));
            }
            if !polite {
                add(StrictRule::AskWithoutMark, ActionClass::Ask, found(&patterns.ask_without_mark));
                let mark = text.char_indices().find(|(_, c)| patterns.question_marks.contains(c));
                let mark = mark.and_then(|(start, c)| Some((start, text.get(start..start + c.len_utf8())?)));
                add(StrictRule::QuestionMarks, ActionClass::Ask, mark);
            }
            let done = patterns.uncued_completion.find(text);
            let taken_back = |end| text.get(..end).is_some_and(|start| patterns.incomplete.is_match(start));
            let done = done.filter(|done| !taken_back(done.end())).map(|done| (done.start(), done.as_str()));
            add(StrictRule::UncuedCompletion, ActionClass::Confirm, done);
        }
        out
    }
}
