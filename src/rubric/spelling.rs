//! "Did you mean …": the nearest of a list of known words.

/// A hint that names the nearest known word, or all of them if none is near.
pub(super) fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let limit = (word.chars().count() + 1) / 3;
    let nearest = known.clone().map(|candidate| (distance(word, candidate), candidate)).min();
    match nearest {
        Some((distance, candidate)) if distance <= limit => format!("did you mean {candidate:?}?"),
        _ => format!("known here: {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// Levenshtein's distance over characters, letter case ignored.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (to, above) in b.iter().zip(row.iter().skip(1)) {
            let substituted = diagonal + usize::from(from != *to);
            left = substituted.min(above + 1).min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_textbook_pairs() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("flaw", "lawn"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
    }

    #[test]
    fn far_words_get_the_whole_list() {
        assert_eq!(did_you_mean("titel", ["title", "kind"].into_iter()), "did you mean \"title\"?");
        assert_eq!(did_you_mean("colour", ["title", "kind"].into_iter()), "known here: title, kind");
    }
}
