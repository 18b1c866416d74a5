//! Where two conditions differ in one turn: which calls stand on one side only, and which arguments of a call changed.

use std::collections::BTreeSet;

use crate::rate::{Call, Piece};

/// How a call stands to the other condition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum CallMark {
    /// There is nothing to compare with, or the same call stands there.
    #[default]
    Same,
    /// The other side calls the same tool here, with other values in these arguments.
    Changed(BTreeSet<usize>),
    /// The other side has no such call here.
    Only,
}

/// Above this many comparisons of calls, nothing is marked: the text was made to be slow.
const LIMIT: usize = 250_000;

/// Marks for the calls of both sides, in their order.
pub(super) fn marks(left: &[&Call], right: &[&Call]) -> (Vec<CallMark>, Vec<CallMark>) {
    let mut marked = (vec![CallMark::Same; left.len()], vec![CallMark::Same; right.len()]);
    if left.len().saturating_mul(right.len()) > LIMIT {
        return marked;
    }
    let (mut from_left, mut from_right) = (0, 0);
    for (to_left, to_right) in common(left, right).into_iter().chain([(left.len(), right.len())]) {
        gap((left, from_left..to_left), (right, from_right..to_right), &mut marked);
        (from_left, from_right) = (to_left + 1, to_right + 1);
    }
    marked
}

/// Marks what lies between two common calls: calls of one tool are paired in order, the rest stands alone.
fn gap(
    (left, lefts): (&[&Call], std::ops::Range<usize>),
    (right, rights): (&[&Call], std::ops::Range<usize>),
    marked: &mut (Vec<CallMark>, Vec<CallMark>),
) {
    let mut free: BTreeSet<usize> = rights.collect();
    for index in lefts {
        let Some(one) = left.get(index) else { continue };
        let partner = free.iter().copied().find(|other| right.get(*other).is_some_and(|call| call.name == one.name));
        let mark = match partner.and_then(|other| Some((other, right.get(other)?))) {
            None => CallMark::Only,
            Some((other, two)) => {
                free.remove(&other);
                if let Some(mark) = marked.1.get_mut(other) {
                    *mark = CallMark::Changed(changed(two, one));
                }
                CallMark::Changed(changed(one, two))
            }
        };
        if let Some(place) = marked.0.get_mut(index) {
            *place = mark;
        }
    }
    for index in free {
        if let Some(mark) = marked.1.get_mut(index) {
            *mark = CallMark::Only;
        }
    }
}

/// The arguments of a call that the other call has not, or has with another value.
fn changed(call: &Call, other: &Call) -> BTreeSet<usize> {
    let differs = |(index, argument)| (!other.arguments.contains(argument)).then_some(index);
    call.arguments.iter().enumerate().filter_map(differs).collect()
}

/// The longest common subsequence as pairs of places.
fn common<T: PartialEq>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let width = right.len() + 1;
    let mut lengths = vec![0_u32; (left.len() + 1) * width];
    let at = |lengths: &[u32], row: usize, column: usize| lengths.get(row * width + column).copied().unwrap_or(0);
    for row in (0..left.len()).rev() {
        for column in (0..right.len()).rev() {
            let best = if left.get(row) == right.get(column) {
                at(&lengths, row + 1, column + 1) + 1
            } else {
                at(&lengths, row + 1, column).max(at(&lengths, row, column + 1))
            };
            if let Some(cell) = lengths.get_mut(row * width + column) {
                *cell = best;
            }
        }
    }
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while row < left.len() && column < right.len() {
        if left.get(row) == right.get(column) {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if at(&lengths, row + 1, column) >= at(&lengths, row, column + 1) {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// The calls among pieces.
pub(super) fn calls(pieces: &[Vec<Piece>]) -> Vec<&Call> {
    pieces
        .iter()
        .flatten()
        .filter_map(|piece| match piece {
            Piece::Call(call) => Some(call),
            Piece::Text(_) => None,
        })
        .collect()
}

/// A stretch of text, and whether the other side has it too.
pub(super) type Stretch<'t> = (bool, &'t str);

/// Compares two texts word by word; `None` where they are too long for it.
pub(super) fn stretches<'t>(one: &'t str, two: &str) -> Option<Vec<Stretch<'t>>> {
    let (ones, twos) = (words(one), words(two));
    if ones.len().saturating_mul(twos.len()) > LIMIT {
        return None;
    }
    let kept: BTreeSet<usize> = common(&ones, &twos).into_iter().map(|(place, _)| place).collect();
    Some(ones.into_iter().enumerate().map(|(place, word)| (kept.contains(&place), word)).collect())
}

/// Runs of letters and digits, and everything else character by character.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut inside = false;
    for (place, c) in text.char_indices() {
        let word = c.is_alphanumeric() || c == '_';
        if place > start && !(word && inside) {
            words.extend(text.get(start..place));
            start = place;
        }
        inside = word;
    }
    words.extend(text.get(start..).filter(|rest| !rest.is_empty()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::pieces;

    fn found(left: &str, right: &str) -> (Vec<CallMark>, Vec<CallMark>) {
        let (left, right) = (vec![pieces(left)], vec![pieces(right)]);
        marks(&calls(&left), &calls(&right))
    }

    fn changed(places: &[usize]) -> CallMark {
        CallMark::Changed(places.iter().copied().collect())
    }

    #[test]
    fn equal_calls_are_anchors_and_the_rest_is_paired_by_tool() {
        let (left, right) = found(
            r#"[{"ls": "{}"}, {"cd": "{\"folder\": \"a\", \"deep\": 1}"}, {"pwd": "{}"}]"#,
            r#"[{"cd": "{\"folder\": \"b\", \"deep\": 1}"}, {"pwd": "{}"}, {"rm": "{\"f\": 1}"}]"#,
        );
        assert_eq!(left, [CallMark::Only, changed(&[0]), CallMark::Same]);
        assert_eq!(right, [changed(&[0]), CallMark::Same, CallMark::Only]);
    }

    #[test]
    fn an_argument_that_one_side_lacks_is_marked_where_it_stands() {
        let (left, right) = found(r#"[{"f": {"a": 1, "b": 2}}]"#, r#"[{"f": {"a": 1}}]"#);
        assert_eq!((left, right), (vec![changed(&[1])], vec![changed(&[])]));
    }

    #[test]
    fn a_silent_side_leaves_the_other_alone() {
        let (left, right) = found(r#"[{"f": {}}]"#, r#""nothing""#);
        assert_eq!((left, right), (vec![CallMark::Only], vec![]));
    }

    #[test]
    fn words_differ_one_by_one() {
        let shown = stretches("[cd(folder='a'), ls()]", "[cd(folder='b'), ls()]").expect("short");
        let only: Vec<&str> = shown.iter().filter(|(both, _)| !both).map(|(_, word)| *word).collect();
        assert_eq!(only, ["a"]);
        assert_eq!(shown.iter().map(|(_, word)| *word).collect::<String>(), "[cd(folder='a'), ls()]");
        assert_eq!(stretches(&"a ".repeat(5000), &"b ".repeat(5000)), None);
    }
}
