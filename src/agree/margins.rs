//! Do the two raters use the categories equally often? Tests of marginal homogeneity and of symmetry.

use serde::Serialize;

use super::{Table, Undefined, tails::chi_square_p};

/// A chi-square test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChiSquare {
    /// The statistic.
    pub chi2: f64,
    /// Degrees of freedom.
    pub df: u32,
    /// The probability of a larger one.
    pub p: f64,
}

/// Stuart and Maxwell's test of equal margins (McNemar's for two categories), with Bhapkar's form.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MarginalHomogeneity {
    /// Stuart 1955, Biometrika 42:412-416; Maxwell 1970, Br. J. Psychiatry 116:651-655.
    pub stuart_maxwell: ChiSquare,
    /// Bhapkar 1966, J. Am. Stat. Assoc. 61:228-235; `None` where the margins differ as far as they can.
    pub bhapkar: Option<ChiSquare>,
}

/// Tests equal margins.
///
/// Categories that are never confused with another carry no information and no degree of freedom; where the
/// confusions fall into groups that never mix, each group gives one degree less than its categories.
///
/// # Errors
/// No units, or no unit on which the raters differ.
pub fn homogeneity(table: &Table) -> Result<MarginalHomogeneity, Undefined> {
    if table.n() == 0 {
        return Err(Undefined::NoUnits);
    }
    let (mut chi2, mut df) = (0.0, 0u32);
    for group in confusion_groups(table) {
        // The group's last category follows from the others.
        let Some((_, kept)) = group.split_last() else { continue };
        let differences: Vec<f64> = kept
            .iter()
            .map(|i| group.iter().map(|j| table.get(*i, *j) as f64 - table.get(*j, *i) as f64).sum())
            .collect();
        let matrix: Vec<Vec<f64>> = kept
            .iter()
            .map(|i| {
                let between = |j: usize| (table.get(*i, j) + table.get(j, *i)) as f64;
                let own: f64 = group.iter().filter(|j| *j != i).map(|j| between(*j)).sum();
                kept.iter().map(|j| if j == i { own } else { -between(*j) }).collect()
            })
            .collect();
        let Some(solved) = solve(matrix, differences.clone()) else { continue };
        chi2 += solved.iter().zip(&differences).map(|(x, d)| x * d).sum::<f64>();
        df += kept.len() as u32;
    }
    if df == 0 {
        return Err(Undefined::NothingDiffers);
    }
    let n = table.n() as f64;
    let test = |chi2: f64| ChiSquare { chi2, df, p: chi_square_p(chi2, df) };
    let bhapkar = (chi2 < n * (1.0 - 1e-12)).then(|| test(chi2 / (1.0 - chi2 / n)));
    Ok(MarginalHomogeneity { stuart_maxwell: test(chi2), bhapkar })
}

/// Bowker's test of symmetry: is every confusion as frequent in one direction as in the other? Bowker 1948, J. Am. Stat.
/// Assoc. 43:572-574. A pair of categories that is never confused adds no degree of freedom.
///
/// # Errors
/// No units, or no unit on which the raters differ.
pub fn bowker(table: &Table) -> Result<ChiSquare, Undefined> {
    if table.n() == 0 {
        return Err(Undefined::NoUnits);
    }
    let (mut chi2, mut df) = (0.0, 0);
    for i in 0..table.size() {
        for j in i + 1..table.size() {
            let (there, back) = (table.get(i, j), table.get(j, i));
            if there + back > 0 {
                chi2 += (there.abs_diff(back) as f64).powi(2) / (there + back) as f64;
                df += 1;
            }
        }
    }
    if df == 0 { Err(Undefined::NothingDiffers) } else { Ok(ChiSquare { chi2, df, p: chi_square_p(chi2, df) }) }
}

/// Groups of two or more categories that are linked by confusions.
fn confusion_groups(table: &Table) -> Vec<Vec<usize>> {
    let mut seen = vec![false; table.size()];
    let mut groups = Vec::new();
    for start in 0..table.size() {
        let (mut group, mut next) = (Vec::new(), vec![start]);
        while let Some(i) = next.pop() {
            match seen.get_mut(i) {
                Some(known) if !*known => *known = true,
                _ => continue,
            }
            group.push(i);
            next.extend((0..table.size()).filter(|j| *j != i && table.get(i, *j) + table.get(*j, i) > 0));
        }
        if group.len() > 1 {
            group.sort_unstable();
            groups.push(group);
        }
    }
    groups
}

/// Solves a symmetric positive definite system by elimination; `None` where it is not one.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for i in 0..size {
        let (above, below) = matrix.split_at_mut(i + 1);
        let pivot_row = above.last()?;
        let pivot = *pivot_row.get(i)?;
        if pivot <= 0.0 {
            return None;
        }
        let known = *right.get(i)?;
        for (row, value) in below.iter_mut().zip(right.iter_mut().skip(i + 1)) {
            let factor = row.get(i)? / pivot;
            for (cell, above) in row.iter_mut().zip(pivot_row).skip(i) {
                *cell -= factor * above;
            }
            *value -= factor * known;
        }
    }
    let mut solution = vec![0.0; size];
    for (i, row) in matrix.iter().enumerate().rev() {
        let known: f64 = row.iter().zip(&solution).skip(i + 1).map(|(a, x)| a * x).sum();
        let value = (right.get(i)? - known) / row.get(i)?;
        *solution.get_mut(i)? = value;
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[u64]]) -> Table {
        Table::numbered(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).expect("square")
    }

    /// With two categories Stuart-Maxwell and Bowker are McNemar's (b − c)² / (b + c).
    #[test]
    fn two_categories_are_mcnemar() {
        let found = table(&[&[794, 150], &[86, 570]]);
        let expected = 64.0f64.powi(2) / 236.0;
        let test = homogeneity(&found).expect("differing").stuart_maxwell;
        assert!((test.chi2 - expected).abs() < 1e-10 && test.df == 1);
        assert!((bowker(&found).expect("differing").chi2 - expected).abs() < 1e-10);
    }

    #[test]
    fn separate_confusions_add_up() {
        // a with b, c with d, e with nobody: two independent McNemar tests.
        let both = table(&[&[9, 7, 0, 0, 0], &[2, 9, 0, 0, 0], &[0, 0, 9, 1, 0], &[0, 0, 5, 9, 0], &[0, 0, 0, 0, 3]]);
        let test = homogeneity(&both).expect("differing").stuart_maxwell;
        assert!((test.chi2 - (25.0 / 9.0 + 16.0 / 6.0)).abs() < 1e-12 && test.df == 2);
        // Bowker's statistic is the same here, since nothing else is confused.
        let symmetry = bowker(&both).expect("differing");
        assert!((symmetry.chi2 - test.chi2).abs() < 1e-12 && symmetry.df == 2);
    }

    #[test]
    fn without_differences_there_is_no_test() {
        assert_eq!(homogeneity(&table(&[])), Err(Undefined::NoUnits));
        assert_eq!(homogeneity(&table(&[&[3, 0], &[0, 4]])), Err(Undefined::NothingDiffers));
        assert_eq!(bowker(&table(&[&[3, 0], &[0, 4]])), Err(Undefined::NothingDiffers));
        // All pairs differ in one direction: chi-square is n, and Bhapkar's form has no value.
        let all = homogeneity(&table(&[&[0, 6], &[0, 0]])).expect("differing");
        assert!((all.stuart_maxwell.chi2 - 6.0).abs() < 1e-12 && all.bhapkar.is_none());
    }
}
