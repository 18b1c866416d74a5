//! How long agreement takes. The same work in other libraries: `benches/peers/agreement.py`.
//!
//! `cargo bench --bench agreement`

use dualrater::agree::alpha::{AlphaData, Metric};
use dualrater::agree::bootstrap::{self, Plan};
use dualrater::agree::{Panel, Table, Weights, fleiss, jackknife, kappa, many};

fn main() {
    divan::main();
}

/// A small generator of our own (splitmix64), so that the data are the same everywhere.
struct Words(u64);

impl Words {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// Two raters, `categories` equally used, the second copies the first on 80 % of the units and guesses on the others.
fn pairs(units: usize, categories: u64) -> Vec<[u32; 2]> {
    let mut words = Words(1);
    (0..units)
        .map(|_| {
            let first = words.below(categories);
            let second = if words.below(10) < 8 { first } else { words.below(categories) };
            [first as u32, second as u32]
        })
        .collect()
}

fn names(categories: u64) -> Vec<String> {
    (0..categories).map(|i| i.to_string()).collect()
}

fn table(units: usize, categories: u64) -> Table {
    let names = names(categories);
    let pairs = pairs(units, categories);
    let label = |code: u32| names.get(code as usize).map_or("", String::as_str);
    Table::from_pairs(&names, pairs.iter().map(|[a, b]| (label(*a), label(*b)))).expect("labels of the list")
}

/// Kappa, both standard errors, and a percentile and a BCa interval from 2,000 replicates; the table is given.
#[divan::bench(args = [(200, 2), (200, 3), (200, 4), (200, 5), (100_000, 2), (100_000, 3), (100_000, 4), (100_000, 5)])]
fn kappa_with_2000_replicates(bencher: divan::Bencher, (units, categories): (usize, u64)) {
    let table = table(units, categories);
    bencher.bench(|| {
        let found = kappa::cohen(divan::black_box(&table));
        let replicates = bootstrap::kappa(&table, Plan { seed: 1, replicates: 2000 });
        let acceleration = jackknife::kappa(&table).map_or(0.0, |jackknife| jackknife.acceleration);
        let bca = replicates.bca(0.95, found.kappa.unwrap_or_default(), acceleration);
        (found, replicates.percentile(0.95), bca)
    });
}

/// The same on one thread.
#[divan::bench(args = [(200, 2), (200, 5), (100_000, 2), (100_000, 5)])]
fn kappa_with_2000_replicates_one_thread(bencher: divan::Bencher, (units, categories): (usize, u64)) {
    let table = table(units, categories);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    bencher.bench(|| pool.install(|| bootstrap::kappa(&table, Plan { seed: 1, replicates: 2000 }).percentile(0.95)));
}

/// From labels to the table.
#[divan::bench(args = [200, 100_000])]
fn table_from_labels(bencher: divan::Bencher, units: usize) {
    let names = names(4);
    let pairs = pairs(units, 4);
    let labels: Vec<(&str, &str)> =
        pairs.iter().map(|[a, b]| (names[*a as usize].as_str(), names[*b as usize].as_str())).collect();
    bencher.bench(|| Table::from_pairs(&names, labels.iter().copied()));
}

fn two_by_a_million() -> Panel {
    let mut words = Words(2);
    let gap = |words: &mut Words, code: u32| if words.below(10) == 0 { Panel::MISSING } else { code };
    let codes = pairs(1_000_000, 4).into_iter().flat_map(|[a, b]| [a, gap(&mut words, b)]).collect();
    Panel::from_codes(names(4), 2, codes).expect("codes")
}

/// Krippendorff's alpha of 2 raters on 1,000,000 units, a tenth of the second's ratings missing.
#[divan::bench(args = [Metric::Nominal, Metric::Ordinal])]
fn alpha_2_by_1_000_000(bencher: divan::Bencher, metric: Metric) {
    let panel = two_by_a_million();
    bencher.bench(|| AlphaData::from_panel(divan::black_box(&panel)).alpha(metric));
}

/// Alpha's interval from 2,000 replicates of the same ratings.
#[divan::bench]
fn alpha_interval_2_by_1_000_000(bencher: divan::Bencher) {
    let panel = two_by_a_million();
    bencher.bench(|| {
        let replicates = AlphaData::from_panel(&panel).replicates(Metric::Nominal, Plan { seed: 1, replicates: 2000 });
        replicates.and_then(|replicates| replicates.percentile(0.95))
    });
}

fn ten_raters() -> Panel {
    let mut words = Words(3);
    let mut codes = Vec::with_capacity(1_000_000);
    for _ in 0..100_000 {
        let truth = words.below(5) as u32;
        for _ in 0..10 {
            codes.push(if words.below(10) < 7 { truth } else { words.below(5) as u32 });
        }
    }
    Panel::from_codes(names(5), 10, codes).expect("codes")
}

/// Fleiss' kappa with Gwet's standard error, 10 raters on 100,000 units, from codes.
#[divan::bench]
fn fleiss_10_by_100_000(bencher: divan::Bencher) {
    let panel = ten_raters();
    let weights = Weights::identity(5);
    bencher.bench(|| many::fleiss(&divan::black_box(&panel).counts(), &weights));
}

/// Its classical form with the test of zero.
#[divan::bench]
fn fleiss_classical_10_by_100_000(bencher: divan::Bencher) {
    let panel = ten_raters();
    bencher.bench(|| fleiss::fleiss(&divan::black_box(&panel).counts()));
}

/// Alpha of the same ratings.
#[divan::bench]
fn alpha_10_by_100_000(bencher: divan::Bencher) {
    let panel = ten_raters();
    bencher.bench(|| AlphaData::from_panel(divan::black_box(&panel)).alpha(Metric::Nominal));
}
