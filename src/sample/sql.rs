//! The same draw as one SQL statement, so that a frame too large to move is sampled where it lies.
//!
//! The frame there is a table or a Parquet file with the text columns `item_id` (the case identity) and `stratum` (the
//! owner), one row a case, without duplicates and nulls. The statement returns `item_id, stratum, ticket, rk`, ordered by
//! stratum and place, and the sample is that of [`super::draw`].
//!
//! What makes it portable: SHA-256 is the one hash that every engine has; tickets are compared as lower-case hex text,
//! which sorts alike everywhere; the allocation is a table of whole numbers made here; nothing but text is hashed, and
//! no identity is changed (no `lower`, `trim` or Unicode normalisation). SQLite has no SHA-256: its host registers
//! `sha256_hex(text)`.

use std::fmt;
use std::fmt::Write as _;

use super::Draw;
use crate::model::{CaseIdentity, Seed, StratumId};

/// A SQL dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// SQLite with a registered `sha256_hex`.
    Sqlite,
    /// DuckDB.
    DuckDb,
    /// PostgreSQL 11 or later.
    Postgres,
    /// Spark SQL.
    Spark,
    /// ClickHouse.
    ClickHouse,
}

impl Engine {
    /// All dialects.
    pub const ALL: [Self; 5] = [Self::Sqlite, Self::DuckDb, Self::Postgres, Self::Spark, Self::ClickHouse];

    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::DuckDb => "duckdb",
            Self::Postgres => "postgres",
            Self::Spark => "spark",
            Self::ClickHouse => "clickhouse",
        }
    }

    /// Reads the name on the command line.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.as_str() == text)
    }

    /// A text as a literal of the dialect, whatever it holds and however the session is set.
    fn literal(self, text: &str) -> String {
        match self {
            // Without E the meaning of a backslash hangs on standard_conforming_strings.
            Self::Postgres if text.contains('\\') => {
                format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
            }
            // How Spark reads quotes and backslashes in a literal depends on its version and on two settings.
            Self::Spark if text.contains(['\'', '\\']) => {
                let hex = text.bytes().fold(String::new(), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02X}");
                    hex
                });
                format!("CAST(X'{hex}' AS STRING)")
            }
            Self::Sqlite | Self::DuckDb | Self::Postgres | Self::Spark => format!("'{}'", text.replace('\'', "''")),
            Self::ClickHouse => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        }
    }

    /// One part of a name, quoted.
    fn identifier(self, part: &str) -> String {
        match self {
            Self::Sqlite | Self::DuckDb | Self::Postgres => format!("\"{}\"", part.replace('"', "\"\"")),
            Self::Spark => format!("`{}`", part.replace('`', "``")),
            Self::ClickHouse => format!("`{}`", part.replace('\\', "\\\\").replace('`', "\\`")),
        }
    }

    /// The ticket of `f.item_id`: 64 lower-case hex digits.
    fn ticket(self, seed: &Seed) -> String {
        let bytes = format!("{} || f.item_id", self.literal(&format!("{seed}:")));
        match self {
            Self::Sqlite => format!("sha256_hex({bytes})"),
            Self::DuckDb => format!("sha256({bytes})"),
            Self::Postgres => format!("encode(sha256(convert_to({bytes}, 'UTF8')), 'hex')"),
            Self::Spark => format!("sha2({bytes}, 256)"),
            Self::ClickHouse => format!("lower(hex(SHA256({bytes})))"),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where the frame lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A table; a schema or catalogue is set off by `.`. The name is quoted, so its letter case counts.
    Table(String),
    /// A Parquet file (DuckDB, Spark, ClickHouse).
    Parquet(String),
}

/// A stratum's row of the allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlStratum {
    /// The stratum.
    pub id: StratumId,
    /// Cases to draw.
    pub n: u64,
    /// Cases that it owns.
    pub population: u64,
    /// Those that earlier batches took.
    pub excluded: u64,
}

impl SqlStratum {
    /// The allocation of a draw that was made (or rehearsed) here.
    #[must_use]
    pub fn of(draw: &Draw) -> Vec<Self> {
        let row = |s: &super::StratumDraw| Self {
            id: s.id.clone(),
            n: s.quota,
            population: s.population,
            excluded: s.excluded,
        };
        draw.strata.iter().map(row).collect()
    }
}

/// A draw to be written as SQL.
#[derive(Debug, Clone)]
pub struct SqlDraw<'a> {
    /// The dialect.
    pub engine: Engine,
    /// Where the frame lies.
    pub source: &'a Source,
    /// The seed.
    pub seed: &'a Seed,
    /// The allocation.
    pub strata: &'a [SqlStratum],
    /// Cases that earlier batches took.
    pub excluded: &'a [CaseIdentity],
    /// Drop most rows by a look at the ticket before sorting, for very large frames. A stratum that comes back with
    /// fewer rows than its `n` (although it has them) must then be drawn again without; the chance of it is
    /// below one in twenty million for each stratum (a Poisson tail; largest for n = 1).
    pub prefilter: bool,
}

/// A draw that cannot be written as SQL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// Nothing to draw.
    #[error("there is no stratum to draw from")]
    NoStrata,
    /// The engine reads no Parquet by itself.
    #[error("{0} does not read Parquet files by itself: load the frame into a table")]
    NoParquet(Engine),
    /// A name that cannot be one.
    #[error("{0:?} cannot be the name of a table or file")]
    Name(String),
}

/// The statement that counts the strata of a frame, for a host that has it and this database has not.
pub const COUNT_STRATA: &str = "SELECT stratum, count(*) AS \"N\" FROM frame GROUP BY stratum";

/// One statement that draws the sample in another engine.
///
/// # Errors
/// No strata, a Parquet file for an engine that reads none, an empty name or one with control characters.
pub fn draw_sql(request: &SqlDraw<'_>) -> Result<String, SqlError> {
    let engine = request.engine;
    let frame = from(engine, request.source)?;
    let alloc = alloc(engine, request.strata, request.prefilter)?;
    let excluded: Vec<String> = request.excluded.iter().map(|case| engine.literal(case.as_str())).collect();
    let left = if excluded.is_empty() {
        String::new()
    } else {
        format!("\n  WHERE f.item_id NOT IN ({})", excluded.join(", "))
    };
    let (cut, kept) = if request.prefilter { (", a.cut", "\n  WHERE substr(ticket, 1, 13) < cut") } else { ("", "") };
    Ok(format!(
        "WITH {alloc},\n\
         keyed AS (\n  \
           SELECT f.item_id, f.stratum, a.n{cut}, {ticket} AS ticket\n  \
           FROM {frame} f JOIN alloc a ON f.stratum = a.stratum{left}\n\
         ),\n\
         ranked AS (\n  \
           SELECT item_id, stratum, n, ticket,\n    \
             row_number() OVER (PARTITION BY stratum ORDER BY ticket, item_id) AS rk\n  \
           FROM keyed{kept}\n\
         )\n\
         SELECT item_id, stratum, ticket, rk FROM ranked WHERE rk <= n ORDER BY stratum, rk\n",
        ticket = engine.ticket(request.seed),
    ))
}

fn from(engine: Engine, source: &Source) -> Result<String, SqlError> {
    let (Source::Table(name) | Source::Parquet(name)) = source;
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(SqlError::Name(name.clone()));
    }
    match (source, engine) {
        (Source::Table(name), _) if name.split('.').any(str::is_empty) => Err(SqlError::Name(name.clone())),
        (Source::Table(name), _) => {
            Ok(name.split('.').map(|part| engine.identifier(part)).collect::<Vec<_>>().join("."))
        }
        (Source::Parquet(path), Engine::DuckDb) => Ok(format!("read_parquet({})", engine.literal(path))),
        (Source::Parquet(path), Engine::Spark) => Ok(format!("parquet.{}", engine.identifier(path))),
        (Source::Parquet(path), Engine::ClickHouse) => Ok(format!("file({}, 'Parquet')", engine.literal(path))),
        (Source::Parquet(_), engine) => Err(SqlError::NoParquet(engine)),
    }
}

/// The common table `alloc(stratum, n[, cut])`.
fn alloc(engine: Engine, strata: &[SqlStratum], prefilter: bool) -> Result<String, SqlError> {
    if strata.is_empty() {
        return Err(SqlError::NoStrata);
    }
    let rows: Vec<String> = strata
        .iter()
        .map(|stratum| {
            let cut = if prefilter { format!(", '{}'", cut(stratum)) } else { String::new() };
            format!("({}, {}{cut})", engine.literal(stratum.id.as_str()), stratum.n)
        })
        .collect();
    let rows = rows.join(",\n  ");
    Ok(match (engine, prefilter) {
        (Engine::ClickHouse, false) => {
            format!("alloc AS (SELECT * FROM values('stratum String, n UInt64',\n  {rows}))")
        }
        (Engine::ClickHouse, true) => {
            format!("alloc AS (SELECT * FROM values('stratum String, n UInt64, cut String',\n  {rows}))")
        }
        (_, false) => format!("alloc(stratum, n) AS (VALUES\n  {rows})"),
        (_, true) => format!("alloc(stratum, n, cut) AS (VALUES\n  {rows})"),
    })
}

/// The first 13 hex digits below which about w + 6√w + 10 of the stratum's tickets lie; `g` (above all digits) for all.
///
/// w is n and the excluded cases together: under the same seed those hold the lowest tickets, so the next n lie behind
/// them. The number of tickets below the cut is binomial.
fn cut(stratum: &SqlStratum) -> String {
    let low = stratum.n.saturating_add(stratum.excluded) as f64;
    let share = (low + 6.0 * low.sqrt() + 10.0) / stratum.population as f64;
    if share < 1.0 { format!("{:013x}", (share * (1u64 << 52) as f64) as u64) } else { "g".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(engine: Engine, source: &Source, seed: &str, stratum: &str, prefilter: bool) -> Result<String, SqlError> {
        let strata =
            [SqlStratum { id: StratumId::parse(stratum).expect("valid"), n: 40, population: 30_000, excluded: 0 }];
        let seed = Seed::parse(seed).expect("valid");
        draw_sql(&SqlDraw { engine, source, seed: &seed, strata: &strata, excluded: &[], prefilter })
    }

    fn table(name: &str) -> Source {
        Source::Table(name.to_owned())
    }

    #[test]
    fn tickets_are_written_as_each_engine_was_shown_to_need_them() {
        for (engine, ticket) in [
            (Engine::Sqlite, "sha256_hex('s:' || f.item_id)"),
            (Engine::DuckDb, "sha256('s:' || f.item_id)"),
            (Engine::Postgres, "encode(sha256(convert_to('s:' || f.item_id, 'UTF8')), 'hex')"),
            (Engine::Spark, "sha2('s:' || f.item_id, 256)"),
            (Engine::ClickHouse, "lower(hex(SHA256('s:' || f.item_id)))"),
        ] {
            let text = sql(engine, &table("frame"), "s", "A", false).expect("written");
            assert!(text.contains(ticket), "{text}");
        }
    }

    #[test]
    fn quotes_and_backslashes_stay_inside_the_literal() {
        let seed = "it's \\ a '; DROP TABLE frame; --";
        for (engine, literal) in [
            (Engine::Sqlite, "'it''s \\ a ''; DROP TABLE frame; --:'"),
            (Engine::DuckDb, "'it''s \\ a ''; DROP TABLE frame; --:'"),
            (Engine::Postgres, "E'it''s \\\\ a ''; DROP TABLE frame; --:'"),
            // xxd -p of the seed and a colon.
            (Engine::Spark, "CAST(X'69742773205C206120273B2044524F50205441424C45206672616D653B202D2D3A' AS STRING)"),
            (Engine::ClickHouse, "'it\\'s \\\\ a \\'; DROP TABLE frame; --:'"),
        ] {
            let text = sql(engine, &table("frame"), seed, "A", false).expect("written");
            assert!(text.contains(&format!("{literal} || f.item_id")), "{text}");
        }
        let text = sql(Engine::Postgres, &table("frame"), "s", "o'clock", false).expect("written");
        assert!(text.contains("('o''clock', 40)"), "{text}");
    }

    #[test]
    fn table_names_are_quoted_part_by_part() {
        for (engine, name, quoted) in [
            (Engine::Sqlite, "frame", "FROM \"frame\" f"),
            (Engine::Postgres, "audit.my frame", "FROM \"audit\".\"my frame\" f"),
            (Engine::DuckDb, "a\"b; --", "FROM \"a\"\"b; --\" f"),
            (Engine::Spark, "db.fr`ame", "FROM `db`.`fr``ame` f"),
            (Engine::ClickHouse, "fr`a\\me", "FROM `fr\\`a\\\\me` f"),
        ] {
            let text = sql(engine, &table(name), "s", "A", false).expect("written");
            assert!(text.contains(quoted), "{text}");
        }
        for bad in ["", "a..b", ".a", "a\nb", "a\0b"] {
            assert!(sql(Engine::Sqlite, &table(bad), "s", "A", false).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn parquet_files_are_read_where_the_engine_can() {
        let file = Source::Parquet("it's/frame.parquet".into());
        for (engine, source) in [
            (Engine::DuckDb, "FROM read_parquet('it''s/frame.parquet') f"),
            (Engine::Spark, "FROM parquet.`it's/frame.parquet` f"),
            (Engine::ClickHouse, "FROM file('it\\'s/frame.parquet', 'Parquet') f"),
        ] {
            let text = sql(engine, &file, "s", "A", false).expect("written");
            assert!(text.contains(source), "{text}");
        }
        assert_eq!(sql(Engine::Sqlite, &file, "s", "A", false), Err(SqlError::NoParquet(Engine::Sqlite)));
        assert_eq!(sql(Engine::Postgres, &file, "s", "A", false), Err(SqlError::NoParquet(Engine::Postgres)));
    }

    #[test]
    fn cuts_compare_with_the_first_13_hex_digits() {
        // (40 + 6·√40 + 10) / 30000 of 16^13, by bc: 0.0029315777… · 4503599627370496 = 0x00c01f6…
        let cut = |n, excluded, population| {
            cut(&SqlStratum { id: StratumId::parse("A").expect("valid"), n, population, excluded })
        };
        assert!(cut(40, 0, 30_000).starts_with("00c01f"), "{}", cut(40, 0, 30_000));
        assert_eq!(cut(40, 0, 30_000).len(), 13);
        assert_eq!(cut(30, 10, 30_000), cut(40, 0, 30_000), "excluded cases stand in front of the drawn ones");
        assert_eq!(cut(40, 0, 60), "g");
        assert_eq!(cut(1, 0, 0), "g");
        assert!("ffffffffffff" < "g");
        let text = sql(Engine::DuckDb, &table("frame"), "s", "A", true).expect("written");
        assert!(text.contains("alloc(stratum, n, cut)") && text.contains("substr(ticket, 1, 13) < cut"), "{text}");
    }
}
