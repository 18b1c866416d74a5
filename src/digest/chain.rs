//! The hash chain of ratings: each link covers the one before it, so an edited, removed or re-ordered rating shows.
//!
//! Only a copy of the head outside the database proves that nothing was rewritten; reports and exports print it.

use super::canonical::Canonical;

/// The link before the first rating.
pub const CHAIN_START: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The next link: digest over the previous link and the fields of the rating in their stored order.
#[must_use]
pub fn chain_next(previous: &str, fields: &[Option<&str>]) -> String {
    let mut writer = Canonical::new("rating").text(previous);
    for field in fields {
        writer = writer.optional(*field);
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_anywhere_changes_the_head() {
        let link = |first: &str, second: &str| chain_next(&chain_next(CHAIN_START, &[Some(first)]), &[Some(second)]);
        let head = link("a", "b");
        assert_ne!(head, link("a", "c"));
        assert_ne!(head, link("x", "b"));
        assert_ne!(head, link("b", "a"));
        assert_eq!(head, link("a", "b"));
    }
}
