//! The only place that reads the clock; everything below takes the time as an argument.

/// Now, in UTC, to the second, as RFC 3339 (`2026-11-30T21:33:47Z`).
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn now() -> String {
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0));
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "1970-01-01T00:00:00Z".to_owned(), |time| time.to_string())
}

/// Milliseconds since the first call, on a clock that only goes forward.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn millis() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let start = START.get_or_init(std::time::Instant::now);
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
