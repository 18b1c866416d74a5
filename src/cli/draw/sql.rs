//! `draw --sql`: the same draw as one statement for an engine that holds the frame.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::request::Drawn;
use crate::cli::Output;
use crate::error::{Error, Place, Result};
use crate::model::{CaseIdentity, Seed, StratumId};
use crate::sample::Sharing;
use crate::sample::sql::{COUNT_STRATA, Engine, Source, SqlDraw, SqlStratum, draw_sql};
use crate::store::Store;
use crate::strata::Plan;

/// Options of a draw that is printed as SQL.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "The same draw in another engine")]
pub struct SqlArgs {
    /// Print one statement that draws the same cases: sqlite, duckdb, postgres, clickhouse or spark; nothing is stored
    #[arg(long = "sql", id = "sql", value_name = "ENGINE", value_parser = engine)]
    pub engine: Option<Engine>,
    /// The table that holds the frame: text columns item_id and stratum (see `export frame`)
    #[arg(long, value_name = "NAME", default_value = "frame", requires = "sql")]
    pub table: String,
    /// A Parquet file that holds the frame, instead of a table (duckdb, spark, clickhouse)
    #[arg(long, value_name = "FILE", requires = "sql", conflicts_with = "table")]
    pub parquet: Option<String>,
    /// Look at the tickets before sorting, for very large frames; a stratum that comes back short is drawn again without
    #[arg(long, requires = "sql")]
    pub prefilter: bool,
    /// Take the strata's sizes from a CSV file with the columns stratum and N instead of from ingested runs
    #[arg(long, value_name = "FILE", requires = "sql", conflicts_with_all = ["bind", "exclude", "pilot"])]
    pub counts: Option<PathBuf>,
}

fn engine(text: &str) -> std::result::Result<Engine, String> {
    Engine::parse(&text.to_ascii_lowercase())
        .ok_or_else(|| format!("use one of: {}", Engine::ALL.map(Engine::as_str).join(", ")))
}

impl SqlArgs {
    pub(super) fn engine(&self) -> Result<Engine> {
        self.engine.ok_or_else(|| Error::usage("--counts needs --sql ENGINE"))
    }

    fn source(&self) -> Source {
        match &self.parquet {
            Some(file) => Source::Parquet(file.clone()),
            None => Source::Table(self.table.clone()),
        }
    }
}

/// Prints the statement of a draw that was rehearsed here.
pub(super) fn run(args: &SqlArgs, drawn: &Drawn, store: &Store, output: &mut Output) -> Result<()> {
    let mut excluded = Vec::new();
    for batch in &drawn.draw.excluded {
        let cases = store.batch_identities(&store.batch(&batch.batch)?)?;
        let here = drawn.setting.frame.iter().map(|case| &case.identity).filter(|case| cases.contains(case));
        excluded.extend(here.cloned());
    }
    excluded.sort_unstable();
    excluded.dedup();
    print(args, args.engine()?, (&SqlStratum::of(&drawn.draw), &excluded), &drawn.draw.seed, output)
}

/// Prints the statement for a frame that is not here: the strata's sizes come from a file.
pub(super) fn from_counts(
    args: &SqlArgs,
    engine: Engine,
    file: &Path,
    (plan, sharing): (&Plan, &Sharing),
    seed: &Seed,
    output: &mut Output,
) -> Result<()> {
    let counts = read_counts(file, plan)?;
    let populations: Vec<(u64, u64, u64)> = plan
        .strata
        .iter()
        .map(|stratum| counts.get(&stratum.id).copied().unwrap_or(0))
        .map(|population| (population, population, 0))
        .collect();
    let (quotas, _) = sharing.quotas(plan, &populations).map_err(crate::sample::DrawError::from)?;
    let strata: Vec<SqlStratum> = plan
        .strata
        .iter()
        .zip(&populations)
        .zip(quotas)
        .map(|((stratum, (population, ..)), n)| SqlStratum {
            id: stratum.id.clone(),
            n,
            population: *population,
            excluded: 0,
        })
        .collect();
    print(args, engine, (&strata, &[]), seed, output)
}

fn print(
    args: &SqlArgs,
    engine: Engine,
    (strata, excluded): (&[SqlStratum], &[CaseIdentity]),
    seed: &Seed,
    output: &mut Output,
) -> Result<()> {
    let source = args.source();
    let request = SqlDraw { engine, source: &source, seed, strata, excluded, prefilter: args.prefilter };
    let sql = draw_sql(&request).map_err(|error| {
        Error::usage(error.to_string()).hint("--table names a table, --parquet a file for duckdb, spark or clickhouse")
    })?;
    output.raw(&sql);
    Ok(())
}

/// `stratum,N` per line under a header; every stratum of the plan once, none that it does not have.
fn read_counts(file: &Path, plan: &Plan) -> Result<BTreeMap<StratumId, u64>> {
    let text = std::fs::read_to_string(file).map_err(|source| Error::io("read", file, &source))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let broken = |error: &csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        Error::data(format!("not a CSV file: {error}")).at(Place::line(file, line))
    };
    let header = reader.headers().map_err(|error| broken(&error))?.clone();
    let column = |name: &str| header.iter().position(|found| found == name);
    let (Some(stratum), Some(size)) = (column("stratum"), column("N")) else {
        return Err(Error::data("the columns stratum and N are missing").at(Place::line(file, 1)).hint(COUNT_STRATA));
    };
    let mut counts = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(|error| broken(&error))?;
        let place = Place::line(file, row.position().map_or(1, csv::Position::line));
        let name = row.get(stratum).unwrap_or_default();
        let known = StratumId::parse(name).ok().filter(|id| plan.stratum(id).is_some());
        let Some(id) = known else {
            return Err(Error::data(format!("the plan has no stratum {name:?}"))
                .at(place)
                .hint("name strata of the plan"));
        };
        let Some(count) = row.get(size).and_then(|text| text.parse().ok()) else {
            return Err(Error::data("N is not a whole number").at(place));
        };
        if counts.insert(id, count).is_some() {
            return Err(Error::data(format!("stratum {name} is there twice")).at(place));
        }
    }
    let missing: Vec<&str> =
        plan.strata.iter().filter(|s| !counts.contains_key(&s.id)).map(|stratum| stratum.id.as_str()).collect();
    if missing.is_empty() {
        Ok(counts)
    } else {
        Err(Error::data(format!("no N for stratum {}", missing.join(", ")))
            .at(Place::file(file))
            .hint("give 0 for a stratum without cases"))
    }
}
