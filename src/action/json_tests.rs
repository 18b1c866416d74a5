//! Tests of the lenient JSON reader.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::json::{JsonProblem, JsonRepairs, lenient_json, lenient_json_with_repairs};

#[test]
fn the_dialect_is_that_of_python_3_11() {
    // What `json.loads` answers; NaN and the infinities are null here.
    for (text, value) in [
        ("NaN", json!(null)),
        (" -Infinity ", json!(null)),
        (r#"{"a":Infinity,"b":[NaN,1]}"#, json!({"a": null, "b": [null, 1]})),
        (r#"{"a":1,"b":2,"a":3}"#, json!({"a": 3, "b": 2})),
        (r#""\u00e9\/\b\f\n\r\t\\\"""#, json!("é/\u{8}\u{c}\n\r\t\\\"")),
        (r#""\ud83d\ude00""#, json!("😀")),
        (r#""\ud83d\ud83d\ude00""#, json!("\u{fffd}😀")),
        (r#""a\udc00b""#, json!("a\u{fffd}b")),
        (r#""\ud800\u0041""#, json!("\u{fffd}A")),
        ("\"\u{7f}\u{2028}\"", json!("\u{7f}\u{2028}")),
        ("-0", json!(0)),
        ("[]\r\n", json!([])),
        ("[ ]", json!([])),
        ("{ }", json!({})),
        ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
        ("-9223372036854775808", json!(-9_223_372_036_854_775_808_i64)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
        ("1e3", json!(1000.0)),
        ("-1.5E-1", json!(-0.15)),
        ("1e999", json!(null)),
        ("-1E999", json!(null)),
    ] {
        assert_eq!(lenient_json(text), Ok(value), "{text}");
    }
}

#[test]
fn what_python_3_11_refuses_is_refused_with_its_place() {
    use JsonProblem::{Control, End, Escape, Trailing, Unexpected};
    for (text, offset, problem) in [
        ("", 0, End),
        ("  ", 2, End),
        ("{", 1, End),
        ("[1", 2, End),
        ("\"a", 2, End),
        ("\"a\\", 3, End),
        ("[1,]", 3, Unexpected(']')),
        ("[,1]", 1, Unexpected(',')),
        ("[1 2]", 3, Unexpected('2')),
        ("{\"a\":1,}", 7, Unexpected('}')),
        ("{\"a\" 1}", 5, Unexpected('1')),
        ("{'a':1}", 1, Unexpected('\'')),
        ("{a:1}", 1, Unexpected('a')),
        ("{1:1}", 1, Unexpected('1')),
        ("nan", 0, Unexpected('n')),
        ("True", 0, Unexpected('T')),
        ("+1", 0, Unexpected('+')),
        ("-", 1, End),
        ("-NaN", 1, Unexpected('N')),
        (".5", 0, Unexpected('.')),
        ("01", 1, Trailing),
        ("1.", 1, Trailing),
        ("1e", 1, Trailing),
        ("1e+", 1, Trailing),
        ("[] []", 3, Trailing),
        ("é", 0, Unexpected('é')),
        ("\u{feff}1", 0, Unexpected('\u{feff}')),
        ("\u{a0}1", 0, Unexpected('\u{a0}')),
        ("\"a\nb\"", 2, Control('\n')),
        ("\"a\u{0}b\"", 2, Control('\0')),
        (r#""\x41""#, 1, Escape),
        (r#""\u12""#, 1, Escape),
        (r#""\u+123""#, 1, Escape),
        (r#""\u12é4""#, 1, Escape),
        ("[}", 1, Unexpected('}')),
        ("[1}", 2, Unexpected('}')),
        ("{]", 1, Unexpected(']')),
    ] {
        let error = lenient_json(text).expect_err(text);
        assert_eq!((error.offset, error.problem), (offset, problem), "{text}");
    }
}

#[test]
fn repairs_are_reported() {
    let repairs = |text: &str| lenient_json_with_repairs(text).expect("valid").1;
    assert_eq!(repairs(r#"["\ud83d\ude00", 1, 2.5]"#), JsonRepairs::default());
    assert!(repairs(r#"["\ud83d"]"#).lone_surrogates);
    assert!(repairs("[NaN]").non_finite);
    assert!(repairs("1e400").non_finite);
    let wide = repairs("123456789012345678901234567890");
    assert!(wide.wide_integers && !wide.non_finite && !wide.refused_integers);
    assert!(!repairs(&"9".repeat(4300)).refused_integers);
    assert!(repairs(&"9".repeat(4301)).refused_integers);
    assert!(!repairs(&format!("{}.0", "9".repeat(4301))).refused_integers);
}

#[test]
fn depth_is_bounded_and_the_stack_suffices() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(lenient_json(&nested(1000)).is_ok());
    let error = lenient_json(&nested(1001)).expect_err("too deep");
    assert_eq!((error.offset, error.problem), (1000, JsonProblem::TooDeep));
    let error = lenient_json(&"{\"a\":".repeat(1_000_000)).expect_err("too deep");
    assert_eq!(error.problem, JsonProblem::TooDeep);
}

/// Any JSON value.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Equal but for what serde_json reads in its own way: floats may be one unit in the last place off, `-0` is a float.
fn alike(ours: &Value, standard: &Value) -> bool {
    match (ours, standard) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 4.0 * f64::EPSILON * b.abs(),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && alike(a, b))
        }
        _ => ours == standard,
    }
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_what_serde_json_writes(value in value()) {
        prop_assert_eq!(lenient_json(&value.to_string()), Ok(value.clone()));
        let pretty = serde_json::to_string_pretty(&value).expect("a value");
        prop_assert_eq!(lenient_json(&pretty), Ok(value));
    }

    #[test]
    fn accepts_all_that_serde_json_accepts(text in "[\\[\\]{}:,\"\\\\ \n0-9eE.+aubtrfn-]{0,24}") {
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            let ours = lenient_json(&text).map_err(|error| TestCaseError::fail(format!("{text:?}: {error}")))?;
            prop_assert!(alike(&ours, &value), "{} {}", ours, value);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _ = lenient_json(&text);
    }
}
