//! The plans that come with the program.

/// Name and text of every bundled plan.
pub const BUNDLED: [(&str, &str); 7] = [
    ("chat", include_str!("../../strata/chat.toml")),
    ("mechanism", include_str!("../../strata/mechanism.toml")),
    ("pilot", include_str!("../../strata/pilot.toml")),
    ("quickstart", include_str!("../../strata/quickstart.toml")),
    ("tau2-ask", include_str!("../../strata/tau2-ask.toml")),
    ("tau2-passes", include_str!("../../strata/tau2-passes.toml")),
    ("tau2-writes", include_str!("../../strata/tau2-writes.toml")),
];

/// The text of a bundled plan by its name, with or without `strata/` and `.toml`.
#[must_use]
pub fn bundled(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("strata/").unwrap_or(name);
    let bare = bare.strip_suffix(".toml").unwrap_or(bare);
    BUNDLED.iter().find(|(known, _)| *known == bare).map(|(_, text)| *text)
}
