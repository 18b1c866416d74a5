//! Numbers as people read them. A value that does not exist is a dash, never 0 and never NaN.

/// What stands for a missing value.
pub(super) const NONE: &str = "–";

/// A number with fixed decimals and a real minus sign; `-0.00` is `0.00`.
pub(super) fn fixed(value: Option<f64>, digits: usize) -> String {
    value.filter(|value| value.is_finite()).map_or_else(|| NONE.to_owned(), |value| minus(&plain(value, digits)))
}

/// A share as a percentage.
pub(super) fn percent(share: Option<f64>) -> String {
    match share.filter(|share| share.is_finite()) {
        Some(share) => format!("{} %", minus(&plain(share * 100.0, 1))),
        None => NONE.to_owned(),
    }
}

/// An interval of numbers.
pub(super) fn interval(limits: Option<[f64; 2]>, digits: usize) -> String {
    match limits {
        Some([low, high]) => format!("{} to {}", fixed(Some(low), digits), fixed(Some(high), digits)),
        None => NONE.to_owned(),
    }
}

/// An interval of shares, in percent.
pub(super) fn percent_interval(limits: Option<[f64; 2]>) -> String {
    match limits {
        Some([low, high]) => {
            format!("{} to {} %", minus(&plain(low * 100.0, 1)), minus(&plain(high * 100.0, 1)))
        }
        None => NONE.to_owned(),
    }
}

/// A p-value.
pub(super) fn p_value(value: Option<f64>) -> String {
    match value {
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        other => fixed(other, 3),
    }
}

/// The shortest text that reads back as the same number; nothing for a missing value.
pub(super) fn exact(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| format!("{value}"))
}

fn plain(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        _ => text,
    }
}

fn minus(text: &str) -> String {
    text.replacen('-', "\u{2212}", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_numbers() {
        assert_eq!(fixed(Some(-0.005_802_7), 3), "\u{2212}0.006");
        assert_eq!(fixed(Some(-0.000_4), 3), "0.000");
        assert_eq!(fixed(None, 3), "–");
        assert_eq!(fixed(Some(f64::NAN), 3), "–");
        assert_eq!(percent(Some(0.355)), "35.5 %");
        assert_eq!(percent_interval(Some([0.0, 0.113_6])), "0.0 to 11.4 %");
        assert_eq!(p_value(Some(1e-9)), "< 0.001");
        assert_eq!(exact(Some(0.1 + 0.2)), "0.30000000000000004");
    }
}
