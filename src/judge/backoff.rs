//! How long to wait before a request is sent again.

use std::time::Duration;

use crate::digest::Canonical;

/// No wait is longer: a server that asks for more is better asked again by hand.
pub(super) const LONGEST: Duration = Duration::from_mins(10);

/// The wait before attempt `attempt + 1` (attempts count from 1): the base doubled per attempt, at most a minute, times a
/// share between one half and one, so that many clients do not come back at once; never less than the server asked for.
pub(super) fn wait(base: Duration, attempt: u32, share: f64, asked_for: Option<Duration>) -> Duration {
    const MOST: Duration = Duration::from_mins(1);
    let doubled = base.saturating_mul(1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX)).min(MOST);
    let jittered = doubled.mul_f64(0.5 + 0.5 * share.clamp(0.0, 1.0));
    asked_for.map_or(jittered, |asked| asked.max(jittered)).min(LONGEST)
}

/// A number in [0, 1) that follows from seed, case and attempt: the same run waits the same way.
pub(super) fn share(seed: u64, case: &str, pass: u32, attempt: u32) -> f64 {
    let digest = Canonical::new("jitter").number(seed).text(case).number(pass.into()).number(attempt.into()).finish();
    let digits = digest.get(..13).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0);
    digits as f64 / (1_u64 << 52) as f64
}

/// What `Retry-After` asks for: seconds, or a date, which is read against the reply's own `Date`, so that neither clock
/// has to be right.
pub(super) fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        let usable = seconds.is_finite() && (0.0..=86_400.0 * 365.0).contains(&seconds);
        return usable.then(|| Duration::from_secs_f64(seconds));
    }
    let read = |text: &str| jiff::fmt::rfc2822::parse(text.trim()).ok().map(|time| time.timestamp().as_second());
    let seconds = read(value)?.checked_sub(read(date?)?)?;
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_stay_between_half_and_whole() {
        let second = Duration::from_secs(1);
        let range =
            |attempt| (wait(second, attempt, 0.0, None).as_millis(), wait(second, attempt, 1.0, None).as_millis());
        assert_eq!([range(1), range(2), range(3)], [(500, 1000), (1000, 2000), (2000, 4000)]);
        assert_eq!(range(40), (30_000, 60_000));
        assert_eq!(range(4_000_000_000), (30_000, 60_000));
    }

    #[test]
    fn the_server_is_never_asked_too_early() {
        let second = Duration::from_secs(1);
        assert_eq!(wait(second, 1, 0.5, Some(Duration::from_secs(7))), Duration::from_secs(7));
        assert!(wait(second, 5, 0.5, Some(second)) > second);
        assert_eq!(wait(second, 1, 0.5, Some(Duration::from_hours(24))), LONGEST);
    }

    #[test]
    fn shares_are_repeatable_and_spread() {
        let shares: Vec<f64> = (0..1000).map(|case| share(7, &case.to_string(), 1, 1)).collect();
        assert_eq!(shares, (0..1000).map(|case| share(7, &case.to_string(), 1, 1)).collect::<Vec<_>>());
        assert!(shares.iter().all(|share| (0.0..1.0).contains(share)));
        let mean = shares.iter().sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
    }

    /// The date is the example of RFC 9110, section 10.2.3.
    #[test]
    fn both_forms_of_retry_after() {
        let seconds = |value: &str, date: Option<&str>| retry_after(value, date).map(|wait| wait.as_secs_f64());
        assert_eq!(seconds("120", None), Some(120.0));
        assert_eq!(seconds(" 0.25 ", None), Some(0.25));
        let date = Some("Fri, 31 Dec 1999 23:59:29 GMT");
        assert_eq!(seconds("Fri, 31 Dec 1999 23:59:59 GMT", date), Some(30.0));
        assert_eq!(seconds("Fri, 31 Dec 1999 23:58:59 GMT", date), Some(0.0));
        for value in ["", "-1", "soon", "inf", "NaN", "1e300"] {
            assert_eq!(seconds(value, date), None, "{value}");
        }
        assert_eq!(seconds("Fri, 31 Dec 1999 23:59:59 GMT", None), None);
    }
}
