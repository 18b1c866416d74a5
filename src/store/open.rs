//! Opening the database: settings, migrations, and the one way into a write.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::StoreError;

/// Marks the file as ours (`dual` in ASCII).
const APPLICATION_ID: i64 = 0x6475_616c;

/// The migrations in order; each runs once, in one transaction with the record that it ran. Never edit one that has
/// been released: add the next.
const MIGRATIONS: [&str; 3] = [
    include_str!("migrations/0001_spine.sql"),
    include_str!("migrations/0002_reratings.sql"),
    include_str!("migrations/0007_tau2.sql"),
];

/// The database of one project: runs, batches and ratings in one SQLite file.
pub struct Store {
    pub(super) connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the file, makes it where it is missing, and brings it up to this program's schema.
    ///
    /// # Errors
    /// Not a database, made by a newer program, not writable, or busy.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open(path).map_err(|source| StoreError::open(path, source))?;
        Self::prepare(connection, path)
    }

    /// Opens an existing file for reading and writing; a missing file is an error that says how to start.
    ///
    /// # Errors
    /// As [`Store::open`], or no such file.
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::NoDatabase { path: path.to_path_buf() });
        }
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(|source| StoreError::open(path, source))?;
        Self::prepare(connection, path)
    }

    /// A database in memory (tests and the demo's dry parts).
    ///
    /// # Errors
    /// Out of memory.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::prepare(Connection::open_in_memory()?, Path::new(":memory:"))
    }

    fn prepare(mut connection: Connection, path: &Path) -> Result<Self, StoreError> {
        connection.busy_timeout(Duration::from_secs(5))?;
        let wrong_file = |source: rusqlite::Error| StoreError::open(path, source);
        // FULL: losing the last minute of a rater's work costs more than the milliseconds.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(wrong_file)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        connection.pragma_update(None, "trusted_schema", "OFF")?;
        migrate(&mut connection, path)?;
        Ok(Self { connection, path: path.to_path_buf() })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` in one immediate transaction; an error rolls everything back.
    ///
    /// # Errors
    /// Whatever `work` returns, or the database's own trouble.
    pub fn write<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(StoreError::from)?;
        let value = work(&transaction)?;
        transaction.commit().map_err(StoreError::from)?;
        Ok(value)
    }

    /// Copies the whole database to another file with SQLite's online backup; safe while others write.
    ///
    /// # Errors
    /// The target cannot be written.
    pub fn backup(&self, target: &Path) -> Result<(), StoreError> {
        self.connection
            .backup("main", target, None::<fn(rusqlite::backup::Progress)>)
            .map_err(|source| StoreError::open(target, source))
    }
}

fn schema_version(connection: &Connection) -> Result<usize, StoreError> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    // A negative version is no version of ours either.
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let version = schema_version(connection)?;
    if version > MIGRATIONS.len() {
        return Err(StoreError::Newer { path: path.to_path_buf(), found: version, known: MIGRATIONS.len() });
    }
    if version == 0 {
        let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if tables > 0 {
            return Err(StoreError::Foreign { path: path.to_path_buf() });
        }
    }
    for (done, sql) in MIGRATIONS.iter().enumerate().skip(version) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have migrated while we waited for the lock.
        if schema_version(&transaction)? > done {
            continue;
        }
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", (done + 1) as i64)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_from_a_newer_program_is_refused_unchanged() {
        let folder = tempfile::tempdir().expect("temp dir");
        let path = folder.path().join("a.db");
        drop(Store::open(&path).expect("new database"));
        let connection = Connection::open(&path).expect("open");
        connection.pragma_update(None, "user_version", 999).expect("set");
        drop(connection);
        assert!(matches!(Store::open(&path), Err(StoreError::Newer { found: 999, .. })));
    }

    #[test]
    fn a_file_of_an_earlier_program_is_brought_up_with_its_rows() {
        let folder = tempfile::tempdir().expect("temp dir");
        let path = folder.path().join("a.db");
        let old = Connection::open(&path).expect("open");
        old.execute_batch(MIGRATIONS[0]).expect("the first schema");
        old.pragma_update(None, "user_version", 1).expect("set");
        old.execute("INSERT INTO raters VALUES ('r', 'human', NULL, 'now')", []).expect("a row");
        drop(old);
        let store = Store::open(&path).expect("brought up");
        let count = |table: &str| -> i64 {
            let sql = format!("SELECT count(*) FROM {table}");
            store.connection.query_row(&sql, [], |row| row.get(0)).expect("the table is there")
        };
        assert_eq!((count("raters"), count("batch_reratings")), (1, 0));
    }

    #[test]
    fn someone_elses_database_and_a_text_file_are_refused() {
        let folder = tempfile::tempdir().expect("temp dir");
        let other = folder.path().join("other.db");
        Connection::open(&other).expect("open").execute_batch("CREATE TABLE t (x)").expect("table");
        assert!(matches!(Store::open(&other), Err(StoreError::Foreign { .. })));
        let text = folder.path().join("notes.txt");
        std::fs::write(
            &text,
            "this is no database, it is a text file with enough bytes in it to be read as a header....",
        )
        .expect("write");
        assert!(Store::open(&text).is_err());
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let mut store = Store::in_memory().expect("store");
        let result: Result<(), StoreError> = store.write(|transaction| {
            transaction.execute("INSERT INTO raters VALUES ('r', 'human', NULL, 'now')", [])?;
            Err(StoreError::NoBatch { name: "x".into() })
        });
        assert!(result.is_err());
        let count: i64 =
            store.connection.query_row("SELECT count(*) FROM raters", [], |row| row.get(0)).expect("count");
        assert_eq!(count, 0);
    }
}
