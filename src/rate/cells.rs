//! Spreadsheet cells that cannot be formulas.

/// A text as a cell that no spreadsheet takes for a formula: where it starts (after any apostrophes) with `=`, `+`, `-`,
/// `@`, a tab, a carriage return or a line feed, an apostrophe is put before it.
pub(super) fn inert_cell(text: &str) -> String {
    if formula_like(text) { format!("'{text}") } else { text.to_owned() }
}

/// Undoes [`inert_cell`]; other texts stay as they are.
pub(super) fn cell_text(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if formula_like(text) => text,
        _ => cell,
    }
}

fn formula_like(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_lose_their_force() {
        for text in ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=cmd|' /C calc'!A0", "'=1", "＝1"] {
            assert!(inert_cell(text).starts_with('\''), "{text:?}");
        }
        for text in ["", "1", "'tis so", "a=b", " =1", "n.a."] {
            assert_eq!(inert_cell(text), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn every_text_reads_back(text in "['=+\\-@\\t\\r\\na]{0,6}.*") {
            let cell = inert_cell(&text);
            proptest::prop_assert_eq!(cell_text(&cell), text);
            proptest::prop_assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']));
        }
    }
}
