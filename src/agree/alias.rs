//! Tables from which binomial counts are drawn in constant time.
//!
//! In a chain of conditional binomials the share of a step is fixed and only its number of units varies, and that within a
//! few standard deviations of its mean. The units are therefore taken as a fixed number, which is almost always there,
//! and the rest written in base 8: each part has an alias table of its own, and the counts add up. Walker 1977, ACM
//! Trans. Math. Softw. 3:253-256; tables built as by Vose 1991, IEEE Trans. Softw. Eng. 17:972-975. Only additions,
//! multiplications and divisions are used, so the draws are the same on every machine. A look-up takes 32 random bits, so a
//! probability is met to about 1e-7 of itself, far below what a billion draws could show.

use super::draws::Words;

/// The base in which the varying part of the units is written.
const BASE: u64 = 8;
/// Standard deviations of the number of units that the tables cover; beyond, another method is used.
const REACH: f64 = 3.0;
/// Cells of a step's tables that are not worth building for a few thousand draws.
const LARGE: f64 = 4000.0;
/// Counts less likely than this, relative to the most likely one, are never drawn.
const NEVER: f64 = 1e-12;

/// Where a table's cells lie and the count of its first cell.
#[derive(Clone, Copy)]
struct Span {
    start: u32,
    length: u32,
    first: u64,
}

/// Tables of one step: binomial counts of any number of units from `fixed` to `fixed + varying`.
pub(crate) struct BinomialTables {
    fixed: u64,
    varying: u64,
    /// The fixed part, then eight spans for each digit of the varying part.
    spans: Vec<Span>,
    /// Keep the cell if the word's rest is below the first number, else move to the second.
    cells: Vec<(u32, u32)>,
}

impl BinomialTables {
    /// Tables for numbers of units around `mean`, within [`REACH`] times `deviation` and at most `most`; `None` where
    /// they would be large.
    pub(crate) fn new(mean: f64, deviation: f64, most: u64, p: f64) -> Option<Self> {
        let reach = REACH * deviation;
        let fixed = (mean - reach).max(0.0) as u64;
        let varying = ((mean + reach).ceil() as u64).min(most).saturating_sub(fixed);
        let places =
            || std::iter::successors(Some(1), |place| Some(place * BASE)).take_while(|place| *place <= varying);
        let digits = |place: u64| (0..BASE.min(varying / place + 1)).map(move |digit| digit * place);
        let length = |n: u64| (n as f64 + 1.0).min(15.0 * (n as f64 * p * (1.0 - p)).sqrt());
        if length(fixed) + places().flat_map(digits).map(length).sum::<f64>() > LARGE {
            return None;
        }
        let mut tables = Self { fixed, varying, spans: Vec::new(), cells: Vec::new() };
        let mut space = Space::default();
        tables.add(fixed, p, &mut space);
        for place in places() {
            for units in digits(place) {
                tables.add(units, p, &mut space);
            }
            // A last digit that cannot be this large is never looked up.
            let whole = 1 + (tables.spans.len() - 1).next_multiple_of(BASE as usize);
            tables.spans.resize(whole, Span { start: 0, length: 1, first: 0 });
        }
        Some(tables)
    }

    /// A binomial count of `n` units, or `None` for an `n` that the tables do not cover.
    #[inline]
    pub(crate) fn draw(&self, words: &mut Words, n: u64) -> Option<u64> {
        let mut rest = n.checked_sub(self.fixed).filter(|rest| *rest <= self.varying)?;
        let (fixed, digits) = self.spans.split_first()?;
        let mut sum = self.look_up(words, *fixed)?;
        for spans in digits.chunks_exact(BASE as usize) {
            sum += self.look_up(words, *spans.get((rest % BASE) as usize)?)?;
            rest /= BASE;
        }
        Some(sum)
    }

    #[inline]
    fn look_up(&self, words: &mut Words, span: Span) -> Option<u64> {
        let product = u64::from(words.half()) * u64::from(span.length);
        let cell = (product >> 32) as u32;
        let (keep, other) = *self.cells.get((span.start + cell) as usize)?;
        // Chosen by a mask: a branch would be guessed wrong every other time.
        let kept = u32::from((product as u32) < keep).wrapping_neg();
        Some(span.first + u64::from(other ^ ((cell ^ other) & kept)))
    }

    /// Adds the alias table of `n` units.
    fn add(&mut self, n: u64, p: f64, space: &mut Space) {
        let first = space.weigh(n, p);
        let Space { weights, small, large } = space;
        let (start, length) = (self.cells.len(), weights.len());
        self.spans.push(Span { start: start as u32, length: length as u32, first });
        self.cells.extend((0..length as u32).map(|cell| (u32::MAX, cell)));
        let Some(cells) = self.cells.get_mut(start..) else { return };

        // Cells above the mean fill up those below it.
        let scale = length as f64 / weights.iter().sum::<f64>();
        small.clear();
        large.clear();
        for (cell, weight) in weights.iter_mut().enumerate() {
            *weight *= scale;
            if *weight < 1.0 { small.push(cell) } else { large.push(cell) }
        }
        while let (Some(below), Some(above)) = (small.pop(), large.last().copied()) {
            let Some(share) = weights.get(below).copied() else { return };
            if let Some(cell) = cells.get_mut(below) {
                // 2^32: the cast ends at the largest number.
                *cell = ((share * 4_294_967_296.0) as u32, above as u32);
            }
            let Some(left) = weights.get_mut(above) else { return };
            *left -= 1.0 - share;
            if *left < 1.0 {
                large.pop();
                small.push(above);
            }
        }
    }
}

/// Working space while tables are built.
#[derive(Default)]
struct Space {
    weights: Vec<f64>,
    small: Vec<usize>,
    large: Vec<usize>,
}

impl Space {
    /// Fills `weights` with the binomial probabilities relative to the mode's; gives the count of the first.
    fn weigh(&mut self, n: u64, p: f64) -> u64 {
        let odds = p / (1.0 - p);
        let against = (1.0 - p) / p;
        let mode = ((n as f64 + 1.0) * p) as u64;
        self.weights.clear();
        let (mut weight, mut first) = (1.0, mode);
        while first > 0 {
            weight *= first as f64 / (n - first + 1) as f64 * against;
            if weight < NEVER {
                break;
            }
            self.weights.push(weight);
            first -= 1;
        }
        self.weights.reverse();
        self.weights.push(1.0);
        weight = 1.0;
        for k in mode..n {
            weight *= (n - k) as f64 / (k + 1) as f64 * odds;
            if weight < NEVER {
                break;
            }
            self.weights.push(weight);
        }
        first
    }
}
