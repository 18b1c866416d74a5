//! Reads a table of sampled cases for `dualrater rate-weighted`: a row a case, columns for label, automatic value, stratum,
//! cluster and two raters.

use std::collections::BTreeMap;
use std::path::Path;

use super::delimited::{MISSING, Sheet, cell, trim};
use crate::error::{Error, Place, Result};
use crate::estimate::survey::{Survey, SurveyCase, SurveyStratum};

/// Which column holds what.
#[derive(Debug, Clone, Default)]
pub struct SurveyColumns {
    /// The label: a number; empty where the case has none.
    pub value: Option<String>,
    /// The automatic value: a number.
    pub metric: Option<String>,
    /// The stratum.
    pub stratum: Option<String>,
    /// The cluster.
    pub cluster: Option<String>,
    /// Two raters, any text.
    pub raters: Option<(String, String)>,
}

const COLUMNS: &str = "the first row names the columns, such as stratum,value,metric; a row is a case";

/// Reads a file's bytes; `name` is for messages. Populations of the strata are left open.
///
/// # Errors
/// Columns that are not there, a value that is no number, a row without a stratum or cluster.
pub fn read_survey(bytes: &[u8], name: &Path, columns: &SurveyColumns) -> Result<Survey> {
    let sheet = Sheet::read(bytes, name, COLUMNS)?;
    let column = |stated: &Option<String>, usual: &str| match stated {
        Some(column) => sheet.stated(column).map(Some),
        None => Ok(sheet.find(&[usual])),
    };
    let (value, metric) = (column(&columns.value, "value")?, column(&columns.metric, "metric")?);
    let (stratum, cluster) = (column(&columns.stratum, "stratum")?, column(&columns.cluster, "cluster")?);
    let raters = match &columns.raters {
        Some((first, second)) => Some((sheet.stated(first)?, sheet.stated(second)?)),
        None => None,
    };
    if value.is_none() && raters.is_none() {
        return Err(Error::data(format!("no column of labels among: {}", sheet.header.join(", ")))
            .at(Place::file(name))
            .hint("name it `value`, or say --value COLUMN; or --raters A,B for agreement alone"));
    }
    let mut survey = Survey::default();
    let (mut strata, mut clusters) = (BTreeMap::new(), BTreeMap::new());
    let mut pairs = Vec::new();
    for (line, cells) in &sheet.rows {
        let text = |at: usize| trim(cell(cells, at));
        let given =
            |at: usize| Some(text(at)).filter(|text| !MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)));
        let number = |at: Option<usize>| match at.and_then(given) {
            None => Ok(None),
            Some(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(sheet
                    .error(*line, format!("{text:?} is not a number"))
                    .hint("labels and automatic values are numbers, such as 0 and 1; an empty cell is no value")),
            },
        };
        let named =
            |at: usize, what: &str| given(at).ok_or_else(|| sheet.error(*line, format!("the case names no {what}")));
        let own = stratum.map_or(Ok("all"), |at| named(at, "stratum"))?;
        let place = *strata.entry(own.to_owned()).or_insert_with(|| {
            survey.strata.push(SurveyStratum { name: own.to_owned(), population: None });
            survey.strata.len() - 1
        });
        let next = clusters.len();
        let cluster = cluster
            .map(|at| named(at, "cluster").map(|own| *clusters.entry((place, own.to_owned())).or_insert(next)))
            .transpose()?;
        pairs.push(
            raters
                .and_then(|(first, second)| given(first).zip(given(second)))
                .map(|(a, b)| (a.to_owned(), b.to_owned())),
        );
        survey.cases.push(SurveyCase {
            stratum: place,
            cluster,
            value: number(value)?,
            metric: number(metric)?,
            pair: None,
        });
    }
    survey.categories = pairs.iter().flatten().flat_map(|(first, second)| [first.clone(), second.clone()]).collect();
    survey.categories.sort();
    survey.categories.dedup();
    let of = |text: &str| survey.categories.binary_search_by(|known| known.as_str().cmp(text)).ok();
    for (case, pair) in survey.cases.iter_mut().zip(&pairs) {
        case.pair = pair.as_ref().and_then(|(first, second)| of(first).zip(of(second)));
    }
    Ok(survey)
}
