//! What all requests share: one connection that writes, some that read, the clock, and how often somebody may knock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::reply::Refusal;
use crate::error::{Error, Result};
use crate::store::Store;

/// The clock, handed in by the command line.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Now, in UTC, as RFC 3339.
    pub now: fn() -> String,
    /// Milliseconds of a clock that only goes forward.
    pub millis: fn() -> u64,
}

/// Shared by all requests.
pub(super) struct App {
    db: PathBuf,
    /// The one connection that writes: saves queue here, so none of them finds the database locked by another.
    writer: Mutex<Store>,
    /// Idle connections that read.
    readers: Mutex<Vec<Store>>,
    pub clock: Clock,
    /// Names under which the server may be called beside addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Name of the cookie; holds the port, since browsers share cookies between the ports of a host.
    pub cookie: String,
    /// Agreed cases that the adjudicator checks.
    pub spot_checks: usize,
    knocks: Mutex<BTreeMap<i64, Bucket>>,
}

/// A token bucket.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: u64,
}

/// A rate: so many at once, so many a second for ever.
pub(super) struct Rate {
    burst: f64,
    per_second: f64,
}

/// Requests of one link: typing, timing and moving stay far below it.
pub(super) const REQUESTS: Rate = Rate { burst: 120.0, per_second: 40.0 };
/// Links that open nothing, from all sides together.
pub(super) const WRONG_LINKS: Rate = Rate { burst: 20.0, per_second: 0.5 };

impl App {
    pub(super) fn new(db: PathBuf, clock: Clock, hosts: Vec<String>, port: u16, spot_checks: usize) -> Result<Self> {
        let writer = Store::open_existing(&db)?;
        Ok(Self {
            db,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            clock,
            hosts,
            cookie: format!("dualrater_{port}"),
            spot_checks,
            knocks: Mutex::default(),
        })
    }

    pub(super) fn now(&self) -> String {
        (self.clock.now)()
    }

    /// Runs `work` on a connection that reads, off the server's thread.
    pub(super) async fn read<T: Send + 'static>(
        self: &std::sync::Arc<Self>,
        work: impl FnOnce(&Store) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Refusal> {
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let idle = locked(&app.readers).pop();
            let store = match idle {
                Some(store) => store,
                None => Store::open_existing(&app.db)?,
            };
            let result = work(&store);
            locked(&app.readers).push(store);
            result
        });
        flat(done.await)
    }

    /// Runs `work` on the connection that writes, off the server's thread, one after the other.
    pub(super) async fn write<T: Send + 'static>(
        self: &std::sync::Arc<Self>,
        work: impl FnOnce(&mut Store) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Refusal> {
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&mut locked(&app.writer)));
        flat(done.await)
    }

    /// May somebody knock now? `who` is a link's row, or 0 for those without.
    pub(super) fn may_knock(&self, who: i64, rate: &Rate) -> bool {
        let now = (self.clock.millis)();
        let mut knocks = locked(&self.knocks);
        let bucket = knocks.entry(who).or_insert(Bucket { tokens: rate.burst, at: now });
        let passed = now.saturating_sub(bucket.at) as f64 / 1000.0;
        bucket.tokens = (bucket.tokens + passed * rate.per_second).min(rate.burst);
        bucket.at = now;
        if bucket.tokens < 1.0 {
            return false;
        }
        bucket.tokens -= 1.0;
        true
    }
}

/// A lock whose holder panicked guards nothing half done: a transaction that was not committed is rolled back.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn flat<T>(done: std::result::Result<Result<T>, tokio::task::JoinError>) -> std::result::Result<T, Refusal> {
    match done {
        Ok(result) => result.map_err(Refusal::from),
        Err(error) => Err(Error::internal(error.to_string()).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    static MILLIS: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn a_burst_is_let_through_and_then_the_rate() {
        let folder = tempfile::tempdir().expect("temp dir");
        let db = folder.path().join("a.db");
        drop(Store::open(&db).expect("a database"));
        let clock = Clock { now: String::new, millis: || MILLIS.load(Ordering::Relaxed) };
        let app = App::new(db, clock, Vec::new(), 1, 0).expect("opened");
        let passed = |who: i64, tries: usize| (0..tries).filter(|_| app.may_knock(who, &REQUESTS)).count();
        assert_eq!(passed(1, 500), 120);
        assert_eq!(passed(2, 10), 10, "another link has a budget of its own");
        MILLIS.store(1000, Ordering::Relaxed);
        assert_eq!(passed(1, 500), 40, "a second later");
        MILLIS.store(3_600_000, Ordering::Relaxed);
        assert_eq!(passed(1, 500), 120, "an hour later no more than a burst");
        let wrong = (0..100).filter(|_| app.may_knock(0, &WRONG_LINKS)).count();
        assert_eq!(wrong, 20);
    }
}
