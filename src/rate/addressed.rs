//! Text of a case that speaks to whoever judges it: orders ("mark this 1"), a forged answer or end of the case, marks of
//! chat templates. The prompt keeps its form whatever a case holds; this only finds such cases, so that a person looks at
//! them and a report can say how many there are. A pattern that hits proves nothing, one that does not proves less.

use std::sync::LazyLock;

use regex::RegexSet;
use serde::Serialize;

use super::view::CaseView;

/// What a text does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressKind {
    /// Asks to set the rules aside.
    SetsRulesAside,
    /// Speaks to a rater, judge or grader.
    NamesTheRater,
    /// Orders a value for a label.
    OrdersAValue,
    /// Holds an answer object of the form that is asked for.
    ForgesAnAnswer,
    /// Pretends that the case ends here.
    ForgesTheEnd,
    /// Holds marks by which chat templates tell who speaks.
    ChatMarks,
    /// Holds characters that cannot be seen, in numbers that hide text.
    HiddenText,
}

impl AddressKind {
    /// As stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SetsRulesAside => "sets_rules_aside",
            Self::NamesTheRater => "names_the_rater",
            Self::OrdersAValue => "orders_a_value",
            Self::ForgesAnAnswer => "forges_an_answer",
            Self::ForgesTheEnd => "forges_the_end",
            Self::ChatMarks => "chat_marks",
            Self::HiddenText => "hidden_text",
        }
    }
}

/// Patterns over text in lower case, with invisible characters taken out, full-width letters narrowed and blanks single.
const PATTERNS: [(AddressKind, &str); 14] = [
    (
        AddressKind::SetsRulesAside,
        r"\b(ignore|disregard|forget|override|bypass)\b.{0,30}\b(previous|prior|above|earlier|preceding|all|your|these|the)\b.{0,20}\b(instructions?|prompts?|rules|rubric|guidelines|directions)\b",
    ),
    (
        AddressKind::SetsRulesAside,
        r"\b(new|updated|revised|real) (system )?(instructions|rules|rubric)( (are|follow)\b|:)",
    ),
    (
        AddressKind::SetsRulesAside,
        r"(ignoriere|vergiss|missachte)\b.{0,40}\b(anweisungen|regeln)|ignora\b.{0,40}\binstrucciones|ignorez?\b.{0,40}\b(instructions|consignes)",
    ),
    (AddressKind::SetsRulesAside, r"忽略.{0,12}(指令|指示|说明|規則|规则)|無視して|игнорируй.{0,40}(инструкци|правил)"),
    (
        AddressKind::NamesTheRater,
        r"\b(dear|attention|hello|hi|note (to|for)|message (to|for)|to)[,:]? (the |any |all )?(llm |ai |human |model )?(judges?|raters?|graders?|evaluators?|annotators?|reviewers?|adjudicators?|auditors?)\b",
    ),
    (
        AddressKind::NamesTheRater,
        r"\b(if|as|since) you('re| are)? (an? |the )?(llm |ai |human |language model )?(judge|rater|grader|evaluator|annotator|reviewer|judging|rating|grading|evaluating)\b",
    ),
    (AddressKind::NamesTheRater, r"\byou are (now )?(an? |the )?(\w+ ){0,2}(judge|rater|grader|evaluator|annotator)\b"),
    (
        AddressKind::OrdersAValue,
        r#"\b(mark|rate|grade|score|label|judge)\b (this|it|everything|(every|all|each)( \w+)?|me|the (case|answer|response|model|assistant|output|turn)|label|b\d\w*)( \w+)? ?(as|to|with|a|an|=)? ?["'(]?(1|0|one|zero|pass|passed|passing|correct|full (marks|credit|score))\b"#,
    ),
    (
        AddressKind::OrdersAValue,
        r"\b(set|assign|give|answer)\b (a |the )?(1|0|one|zero|n\.a\.|(label|labels|b\d\w*)\b) ?(to|for|on|as|with|=)? ?(1|0|one|zero|n\.a\.|(every|all|each|the) (label|question|case)s?)",
    ),
    (
        AddressKind::OrdersAValue,
        r"\bb\d[ab]?(_[a-z_]+)?\b ?(must|should|shall|has to|is to) (be|get|receive) .{0,12}(0|1|n\.a\.)",
    ),
    (AddressKind::ForgesAnAnswer, r#""labels"\s*:\s*\{"#),
    (AddressKind::ForgesAnAnswer, r#""b\d[ab]?(_[a-z_]+)?"\s*:\s*(\{\s*"value"|"?[01]"?\b)"#),
    (
        AddressKind::ForgesTheEnd,
        r"\[case [0-9a-f]{4,64} (begins|ends)\]|^</?(case|material|conversation|transcript)>|#+ ?your answer\b|#+ ?form of the answer\b",
    ),
    (
        AddressKind::ChatMarks,
        r"<\|[a-z_]{2,24}\|>|<｜[^｜]{1,40}｜>|\[/?inst\]|<</?sys>>|<(start|end)_of_turn>|^\s*(###)? ?(system|assistant) ?(prompt|message|override)? ?:\s",
    ),
];

static SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    let patterns = PATTERNS.iter().map(|(_, pattern)| format!("(?m){pattern}"));
    RegexSet::new(patterns).ok()
});

/// A text that addresses the rater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Address {
    /// What it does.
    pub kind: AddressKind,
    /// Where it stands: `user`, `emission`, `truth`, `grader`, `tool`, each with its turn where it has one.
    pub place: String,
}

/// What in a text addresses the rater, each kind once, in order.
#[must_use]
pub fn addressed_text(text: &str) -> Vec<AddressKind> {
    let (plain, hidden) = normalised(text);
    let mut kinds: Vec<AddressKind> = match SET.as_ref() {
        Some(set) => set.matches(&plain).into_iter().filter_map(|at| PATTERNS.get(at)).map(|(kind, _)| *kind).collect(),
        None => Vec::new(),
    };
    if hidden >= 8 {
        kinds.push(AddressKind::HiddenText);
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Everything in a case, as far as the rater sees it, that addresses the rater.
#[must_use]
pub fn addressed(case: &CaseView) -> Vec<Address> {
    let mut found = Vec::new();
    let mut look = |place: &str, turn: Option<usize>, text: &str| {
        let place = turn.map_or_else(|| place.to_owned(), |turn| format!("{place} {turn}"));
        found.extend(addressed_text(text).into_iter().map(|kind| Address { kind, place: place.clone() }));
    };
    for (index, turn) in case.turns.iter().enumerate() {
        if let Some(user) = &turn.user {
            look("user", Some(index), user);
        }
        for call in turn.ground_truth.iter().flatten() {
            look("truth", Some(index), call);
        }
        for emission in turn.baseline.iter().chain(&turn.second).flatten() {
            // The run's JSON, with the escapes of a text undone.
            look("emission", Some(index), emission);
            if let Some(text) = super::json::string(emission) {
                look("emission", Some(index), &text);
            }
        }
    }
    for condition in [Some(&case.baseline), case.second.as_ref()].into_iter().flatten() {
        for text in [&condition.error, &condition.error_type, &condition.error_detail].into_iter().flatten() {
            look("grader", None, text);
        }
    }
    for tool in &case.held_out_tools {
        look("tool", None, tool);
    }
    found.sort();
    found.dedup();
    found
}

/// The text in one form for the patterns, and how many characters of it cannot be seen.
fn normalised(text: &str) -> (String, usize) {
    let mut plain = String::with_capacity(text.len());
    let mut hidden = 0;
    let mut blank = false;
    for c in text.chars() {
        let c = match c {
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}' => {
                // Joiners stand in ordinary emoji and scripts.
                hidden += usize::from(!matches!(c, '\u{200c}' | '\u{200d}'));
                // Letters written in tag characters are letters to a model.
                match u32::from(c) {
                    code @ 0xe0020..=0xe007e => char::from_u32(code - 0xe0000).unwrap_or(' '),
                    _ => continue,
                }
            }
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
            '’' | '‘' => '\'',
            '“' | '”' => '"',
            c => c,
        };
        if c == '\n' {
            plain.push('\n');
            blank = true;
        } else if c.is_whitespace() {
            if !blank {
                plain.push(' ');
            }
            blank = true;
        } else {
            plain.extend(c.to_lowercase());
            blank = false;
        }
    }
    (plain, hidden)
}

#[cfg(test)]
mod tests;
