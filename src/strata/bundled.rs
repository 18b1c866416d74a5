//! The plans that come with the program.

/// Name and text of every bundled plan.
pub const BUNDLED: [(&str, &str); 3] = [
    ("mechanism", include_str!("../../strata/mechanism.toml")),
    ("pilot", include_str!("../../strata/pilot.toml")),
    ("quickstart", include_str!("../../strata/quickstart.toml")),
];

/// The text of a bundled plan by its name, with or without `strata/` and `.toml`.
#[must_use]
pub fn bundled(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("strata/").unwrap_or(name);
    let bare = bare.strip_suffix(".toml").unwrap_or(bare);
    BUNDLED.iter().find(|(known, _)| *known == bare).map(|(_, text)| *text)
}
