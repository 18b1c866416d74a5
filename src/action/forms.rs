//! The four forms in which a text counts as a tool call. Nothing is checked for being well-formed: an unclosed call
//! passes, and so does a bracket at the start followed by a word and `(`.

use super::space::{is_space, is_word, trim_start};

/// A form of section "text forms" of the reference release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextForm {
    /// `[name(`, at the start.
    PythonList,
    /// `<tool_call` in any letter case before a word boundary, anywhere.
    XmlTag,
    /// `[{"name":`, at the start.
    JsonList,
    /// `{"name":"identifier",` at the start and a quoted `arguments` or `parameters` with `:` somewhere later.
    JsonObject,
}

/// The form that makes a text a tool call, if any. The forms at the start exclude each other and are named before the
/// tag, which may stand anywhere.
pub(super) fn text_form(text: &str) -> Option<TextForm> {
    let cursor = Cursor(text).space();
    if cursor.0.starts_with('[') {
        if python_list(cursor).is_some() {
            return Some(TextForm::PythonList);
        }
        if json_list(cursor).is_some() {
            return Some(TextForm::JsonList);
        }
    } else if json_object(cursor).is_some() {
        return Some(TextForm::JsonObject);
    }
    xml_tag(text).then_some(TextForm::XmlTag)
}

/// The rest of a text; every step either moves on or gives up.
#[derive(Clone, Copy)]
struct Cursor<'t>(&'t str);

impl Cursor<'_> {
    fn space(self) -> Self {
        Self(trim_start(self.0))
    }

    fn eat(self, what: &str) -> Option<Self> {
        self.0.strip_prefix(what).map(Self)
    }

    fn quote(self) -> Option<Self> {
        self.0.strip_prefix(['"', '\'']).map(Self)
    }

    /// An ASCII letter or `_`, then ASCII letters, digits and `_`.
    fn identifier(self) -> Option<Self> {
        if !self.0.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return None;
        }
        Some(Self(self.0.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')))
    }

    /// The quoted key `name` and its colon. The two quote characters need not be the same.
    fn name_key(self) -> Option<Self> {
        self.quote()?.eat("name")?.quote()?.space().eat(":")
    }
}

fn python_list(start: Cursor<'_>) -> Option<Cursor<'_>> {
    start.eat("[")?.space().identifier()?.space().eat("(")
}

fn json_list(start: Cursor<'_>) -> Option<Cursor<'_>> {
    start.eat("[")?.space().eat("{")?.space().name_key()
}

fn json_object(start: Cursor<'_>) -> Option<Cursor<'_>> {
    let value = start.eat("{")?.space().name_key()?.space();
    let rest = value.quote()?.identifier()?.quote()?.space().eat(",")?;
    rest.0.match_indices(['"', '\'']).find_map(|(at, _)| {
        let key = Cursor(rest.0.get(at..)?).quote()?;
        key.eat("arguments").or_else(|| key.eat("parameters"))?.quote()?.space().eat(":")
    })
}

fn xml_tag(text: &str) -> bool {
    tags(text).next().is_some()
}

/// The tag that makes a text a call, in any letter case.
pub(super) const TAG: &str = "<tool_call";

/// The offsets just behind every `<tool_call` that a word boundary follows.
pub(super) fn tags(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.match_indices('<').filter_map(|(at, _)| {
        let tag = text.get(at..at + TAG.len())?;
        let behind = text.get(at + TAG.len()..)?;
        (tag.eq_ignore_ascii_case(TAG) && !behind.starts_with(is_word)).then_some(at + TAG.len())
    })
}

/// Is there nothing but white space?
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference release's accept and reject examples, with the white space and word boundary rules of its language.
    const CASES: &[(&str, Option<TextForm>)] = &[
        (r#"[touch(file_name="a.txt")]"#, Some(TextForm::PythonList)),
        ("  [ cp (source='a'", Some(TextForm::PythonList)),
        ("[touch(x=1), rm(y=2)]", Some(TextForm::PythonList)),
        ("\u{1c}\u{a0}[\u{3000}_t2 (", Some(TextForm::PythonList)),
        ("[fs.touch(x=1)]", None),
        ("[[touch()]]", None),
        ("touch(x=1)", None),
        (r#"["touch()"]"#, None),
        ("[touch]", None),
        ("[1touch()]", None),
        ("[töuch()]", None),
        ("text first\n[touch(x=1)]", None),
        ("[Remark (see below)] nothing done", Some(TextForm::PythonList)),
        ("[Remark: no call]", None),
        ("<tool_call>\n{\"name\":\"ls\",\"arguments\":{}}\n</tool_call>", Some(TextForm::XmlTag)),
        ("<TOOL_CALL>x", Some(TextForm::XmlTag)),
        ("<tool_call", Some(TextForm::XmlTag)),
        ("I would emit <tool_call> next", Some(TextForm::XmlTag)),
        ("<tool_calls> then <tool_call>", Some(TextForm::XmlTag)),
        ("<tool_call\u{301}", Some(TextForm::XmlTag)),
        ("<tool_call-x", Some(TextForm::XmlTag)),
        ("<tool_calls>", None),
        ("<tool_call_begin>", None),
        ("<tool_call²", None),
        ("<tool_call½", None),
        ("<tool_callé", None),
        ("< tool_call>", None),
        ("</tool_call>", None),
        ("my tool_call is next", None),
        (r#"[{"name":"ls","arguments":{}}]"#, Some(TextForm::JsonList)),
        ("[ { 'name' : 1", Some(TextForm::JsonList)),
        (r#"[{"name':"#, Some(TextForm::JsonList)),
        (r#"[{"arguments":{},"name":"ls"}]"#, None),
        ("Here:\n[{\"name\":\"ls\"}]", None),
        (r#"{"name":"ls","arguments":{}}"#, Some(TextForm::JsonObject)),
        (r#"{"name":"ls","x":1,"parameters":{}}"#, Some(TextForm::JsonObject)),
        ("{ 'name' : \"ls\",\n\n'arguments' :", Some(TextForm::JsonObject)),
        (r#"{"name":"ls"}"#, None),
        (r#"{"arguments":{},"name":"ls"}"#, None),
        (r#"{"name":"a.b","arguments":{}}"#, None),
        (r#"{"name":"a-b","arguments":{}}"#, None),
        (r#"{"name":"","arguments":{}}"#, None),
        (r#"{"name":"ls","my_arguments":{}}"#, None),
        ("```json\n[{\"name\":\"ls\",\"arguments\":{}}]\n```", None),
        ("[]", None),
        ("", None),
        ("\u{feff}[touch(x=1)]", None),
        ("\u{feff}[{\"name\":1", None),
    ];

    #[test]
    fn forms_are_those_of_the_reference_release() {
        for (text, form) in CASES {
            assert_eq!(text_form(text), *form, "{text:?}");
        }
    }
}
