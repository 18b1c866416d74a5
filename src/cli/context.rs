//! What every command knows: the database and the command line that started it.

use std::path::PathBuf;

use crate::error::Result;
use crate::model::BatchName;
use crate::rubric::Rubric;
use crate::store::{BatchInfo, Store};

/// Options of all commands.
#[derive(Debug, Clone, clap::Args)]
pub struct Context {
    /// The database
    #[arg(long, global = true, env = "DUALRATER_DB", default_value = "audits.db", value_name = "FILE")]
    pub db: PathBuf,
}

impl Context {
    /// Opens the database, which must exist.
    pub fn store(&self) -> Result<Store> {
        Ok(Store::open_existing(&self.db)?)
    }

    /// Opens the database or makes it.
    pub fn store_or_new(&self) -> Result<Store> {
        Ok(Store::open(&self.db)?)
    }

    /// A batch with its rubric.
    pub fn batch(store: &Store, name: &BatchName) -> Result<(BatchInfo, Rubric)> {
        super::desk::batch_with_rubric(store, name)
    }

    /// The command line as it was typed, for the record.
    pub fn command_line() -> String {
        let words: Vec<String> = std::env::args_os()
            .map(|word| {
                let word = word.to_string_lossy().into_owned();
                let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+#".contains(c);
                if !word.is_empty() && word.chars().all(plain) {
                    word
                } else {
                    format!("'{}'", word.replace('\'', "'\\''"))
                }
            })
            .collect();
        words.join(" ")
    }
}
