//! Python literals: what is accepted, how it is written back, what is refused. The answers are those of Python 3.11.7
//! (`ast.literal_eval`, then `json.loads`; `json.dumps` with `separators=(",", ":")`) for the text `{"ls": {"x": LITERAL}}`;
//! the literals are the interesting ones of 400,000 mutated texts on which both sides were compared.

use serde_json::json;

use super::normalise;

/// A literal and its JSON form.
const ACCEPTED: &[(&str, &str)] = &[
    ("1", "1"),
    ("0", "0"),
    ("00", "0"),
    ("1_0", "10"),
    ("0x1f", "31"),
    ("0x_f", "15"),
    ("0o17", "15"),
    ("0b1", "1"),
    ("1.", "1.0"),
    ("1.5", "1.5"),
    (".5", "0.5"),
    ("1e5", "100000.0"),
    ("1.e5", "100000.0"),
    ("1_0.0_1", "10.01"),
    ("1e1_0", "10000000000.0"),
    ("01.5", "1.5"),
    ("-1", "-1"),
    ("+1", "1"),
    ("-(1)", "-1"),
    ("(1)", "1"),
    ("True", "true"),
    ("False", "false"),
    ("None", "null"),
    ("true", "true"),
    ("null", "null"),
    ("()", "[]"),
    ("(1,)", "[1]"),
    ("(1,2)", "[1,2]"),
    ("[]", "[]"),
    ("{}", "{}"),
    ("{1:2,}", "{\"1\":2}"),
    ("[1,]", "[1]"),
    ("'a'", "\"a\""),
    ("\"b\"", "\"b\""),
    ("'a' 'b'", "\"ab\""),
    ("'a' \"b\"", "\"ab\""),
    ("r'\\d'", "\"\\\\d\""),
    ("u'x'", "\"x\""),
    ("'''t\nu'''", "\"t\\nu\""),
    ("\"\"\"q\"r\"\"\"", "\"q\\\"r\""),
    ("'\\x41'", "\"A\""),
    ("'\\u00e9'", "\"\\u00e9\""),
    ("'\\U0001F600'", "\"\\ud83d\\ude00\""),
    ("'\\ud83d\\ude00'", "\"\\ud83d\\ude00\""),
    ("'\\q'", "\"\\\\q\""),
    ("'\\/'", "\"\\\\/\""),
    ("'\\101'", "\"A\""),
    ("'\\777'", "\"\\u01ff\""),
    ("'\\\n'", "\"\""),
    ("'é'", "\"\\u00e9\""),
    ("{1:2,True:3}", "{\"1\":3}"),
    ("1e999", "Infinity"),
    ("-1e999", "-Infinity"),
    ("99999999999999999999999", "99999999999999999999999"),
    ("0xffffffffffffffffffffffffffffffffffff", "22300745198530623141535718272648361505980415"),
    ("1e22", "1e+22"),
    ("1.0", "1.0"),
    ("1e16", "1e+16"),
    ("1e-5", "1e-05"),
    ("-0", "0"),
    ("-0.0", "-0.0"),
    ("0e0", "0.0"),
    ("1_000", "1000"),
    ("# c\n1", "1"),
    ("\\\n1", "1"),
    ("\t1", "1"),
    ("\u{c}1", "1"),
    ("'\t'", "\"\\t\""),
    ("'\u{2028}'", "\"\\u2028\""),
    ("\"\\\"\"", "\"\\\"\""),
    ("'\\''", "\"'\""),
    ("''", "\"\""),
    ("''''''", "\"\""),
    ("r'\\''", "\"\\\\'\""),
    ("{'a':{1},'a':2}", "{\"a\":2}"),
    ("{'name':'n','arguments':{}}", "{\"name\":\"n\",\"arguments\":{}}"),
    ("[{'a':1}]", "[{\"a\":1}]"),
    ("0_0", "0"),
    ("0_7.5", "7.5"),
    ("'a'r'\\b'", "\"a\\\\b\""),
    ("'a'\n'b'", "\"ab\""),
    ("'a'#c\n'b'", "\"ab\""),
    ("(('x'))", "\"x\""),
    ("- 1", "-1"),
    ("((1),)", "[1]"),
    ("{'a' 'b':1}", "{\"ab\":1}"),
    ("{None:1}", "{\"null\":1}"),
    ("{1.0:1,1:2}", "{\"1.0\":2}"),
    ("\r1", "1"),
    ("1\r\n", "1"),
    ("{1: {2}, True: 3}", "{\"1\":3}"),
    ("{1: 3, 1+0j: 4}", "{\"1\":4}"),
    ("{'k': ..., 'k': []}", "{\"k\":[]}"),
    ("( # c\n)", "[]"),
    ("1_000.000_1", "1000.0001"),
    ("1e5_0", "1e+50"),
    ("1e+5", "100000.0"),
    ("1E5", "100000.0"),
    ("0xFF", "255"),
    ("0B1", "1"),
    ("0O7", "7"),
    ("-\n1", "-1"),
    ("'''a'''", "\"a\""),
    ("''''a'''", "\"'a\""),
    ("\"\"\"\n\"\"\"", "\"\\n\""),
    ("R'\\''", "\"\\\\'\""),
    ("'\\8'", "\"\\\\8\""),
    ("'\\0'", "\"\\u0000\""),
    ("'\\08'", "\"\\u00008\""),
    ("'\\1234'", "\"S4\""),
    ("U'x'", "\"x\""),
    ("'\u{feff}'", "\"\\ufeff\""),
    ("None,", "null"),
    ("00_0", "0"),
    ("0.0_1", "0.01"),
    (
        "0o777777777777777777777777777777777777777777777777777777777777",
        "1532495540865888858358347027150309183618739122183602175",
    ),
];

/// Literals that JSON cannot hold.
const NOT_FOR_JSON: &[&str] = &[
    "1j",
    "1.5J",
    "00j",
    "01j",
    "...",
    "set()",
    "set( )",
    "{1}",
    "{1,2,}",
    "1+2j",
    "1-2j",
    "-1+2j",
    "1+(2j)",
    "(1)+2j",
    "+1j",
    "b'x'",
    "b'x' b'y'",
    "br'x'",
    "Rb'x'",
    "b'\\xff'",
    "{(1,2):3}",
    "1e400j",
    "b''",
    "(1+2j)",
    "-(1j)",
    "1 - 2j",
    "1 -2J",
    "{b'a':1}",
    "{...:1}",
    "{'a': 1, b'a': 2}",
    "{(1,2): {3}, (1.0,2): 4}",
    "{('a',): 1}",
    "{9007199254740993: {1}, 9007199254740992.0: 2}",
    "1_0j",
    "1 + 1j",
    "1 +1j",
    "1+1J",
    "b'\\u12'",
    "b'\\777'",
];

/// No literals.
const REFUSED: &[&str] = &[
    "01",
    "1__0",
    "1_",
    "0xg",
    "0o8",
    "0b2",
    "1e",
    "._5",
    "1._5",
    "--1",
    "-True",
    "set(1)",
    "(,)",
    "[,]",
    "1+-2j",
    "1+2",
    "1j+2",
    "1+2j+3j",
    "'a' b'x'",
    "ur'x'",
    "f'x'",
    "'\\x4'",
    "'\\u12'",
    "'\\U00110000'",
    "b'\\x4'",
    "b'é'",
    "'un",
    "abc",
    "x.y",
    "f(1)",
    "[1][0]",
    "1 if 1 else 2",
    "lambda:0",
    "1 or 2",
    "not 1",
    "[*a]",
    "{**a}",
    "{[1]:2}",
    "{{1}}",
    "{(1,[2])}",
    "1if",
    "'a'*2",
    "1 # c",
    "\\ 1",
    "\\x",
    "\u{b}1",
    "\u{a0}1",
    "'\n'",
    "''''",
    "r'\\'",
    "1;",
    "1,2",
    "1.real",
    "0_7",
    "0777",
    "1L",
    "1r'x'",
    "-(-1)",
    "+(+1)",
    "True+1j",
    "'a'+'b'",
    "None.x",
    "'\r'",
    "{set()}",
    "{1: 2, 3}",
    "{1, 2: 3}",
    "{:}",
    "{**{}}",
    "[1 2]",
    "'a' # c",
    "0x",
    "0b",
    "0o",
    "1._0",
    "1_.0",
    "1e_5",
    "- -1",
    "-'a'",
    "-None",
    "'''a''''",
    "'a\\",
    "'\\x'",
    "'\\'",
    "rb'\\'",
    "fr'x'",
    "\u{feff}1",
    "None None",
    "nan",
    "inf",
    "undefined",
    "1;2",
    "0_",
];

fn written(text: &str) -> Option<String> {
    normalise(&json!(text))
}

#[test]
fn literals_are_read_and_written_as_by_python() {
    for (literal, json) in ACCEPTED {
        let expected = format!(r#"[{{"name":"ls","arguments":{{"x":{json}}}}}]"#);
        assert_eq!(written(&format!(r#"{{"ls": {{"x": {literal}}}}}"#)), Some(expected), "{literal}");
    }
}

#[test]
fn what_json_cannot_hold_leaves_the_emission_alone_unless_a_later_key_replaces_it() {
    for literal in NOT_FOR_JSON {
        assert_eq!(written(&format!(r#"{{"ls": {{"x": {literal}}}}}"#)), None, "{literal}");
        let replaced = written(&format!(r#"{{"ls": {{"x": {literal}, "x": 1}}}}"#));
        assert_eq!(replaced.as_deref(), Some(r#"[{"name":"ls","arguments":{"x":1}}]"#), "{literal}");
    }
}

#[test]
fn what_python_refuses_is_refused() {
    for literal in REFUSED {
        assert_eq!(written(&format!(r#"{{"ls": {{"x": {literal}}}}}"#)), None, "{literal}");
        assert_eq!(written(&format!(r#"{{"ls": {{"x": {literal}, "x": 1}}}}"#)), None, "{literal}");
    }
}

#[test]
fn integers_are_read_and_written_up_to_4300_digits() {
    let ls = |literal: &str| written(&format!(r#"{{"ls": {{"x": {literal}}}}}"#));
    assert!(ls(&"9".repeat(4300)).is_some());
    assert!(ls(&"9".repeat(4301)).is_none());
    // 3570 hexadecimal digits make 4299 decimal ones, 3600 make 4335.
    assert!(ls(&format!("0x{}", "f".repeat(3570))).is_some_and(|text| text.len() > 4299));
    assert!(ls(&format!("0x{}", "f".repeat(3600))).is_none());
    assert!(ls(&format!("0x{}", "f".repeat(1_000_000))).is_none());
}

#[test]
fn python_reads_200_brackets_inside_each_other_and_json_more() {
    // One bracket of the emission and one of the arguments around 198 and 199 others.
    let nested = |depth: usize, open: &str, close: &str| {
        written(&format!("{{'ls': {{'x': {}{}}}}}", open.repeat(depth), close.repeat(depth)))
    };
    assert!(nested(198, "[", "]").is_some());
    assert!(nested(199, "[", "]").is_none());
    assert!(nested(100_000, "[", "]").is_none());
    let json = |depth: usize| written(&format!(r#"{{"ls": {{"x": {}{}}}}}"#, "[".repeat(depth), "]".repeat(depth)));
    assert!(json(900).is_some());
    assert!(json(100_000).is_none());
}

#[test]
fn text_around_the_value_may_be_blank_or_a_comment() {
    let call = Some(r#"[{"name":"ls","arguments":{}}]"#);
    for (text, expected) in [
        ("{'ls':{}} # c", call),
        ("{'ls':{}}\n# c\n\n#d", call),
        ("\u{1f}\u{a0}{'ls':{}}\u{3000}", call),
        ("{'ls':{}} \\\n# c", call),
        ("{'ls':{}}\\", None),
        ("{'ls':{}};", None),
        ("{'ls':{}},", None),
        ("{'ls':{}} {'ls':{}}", None),
        ("{'ls':{}}\n1", None),
        ("({'ls':{}})", None),
    ] {
        assert_eq!(written(text).as_deref(), expected, "{text:?}");
    }
}
