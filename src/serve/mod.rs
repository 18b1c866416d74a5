//! The local web page: raters, adjudicator and owner each come with a secret link and see what is theirs. Also the
//! offline packet, made of the same parts, and the state of a batch.
//!
//! A rater's handlers (`rater`) work on a `room::Room` and on [`crate::store::OwnRows`], which name the rater in every
//! statement; only the adjudicator's and the owner's use the desk, which holds everything.

mod access;
mod adjudicator;
mod app;
mod bench;
mod fields;
mod guard;
mod look;
mod owner;
mod packet;
mod rater;
mod rater_pages;
mod reply;
mod room;
mod routes;
mod ruling_pages;
mod save;
mod sheet;
mod status;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

pub use access::Secret;
pub use app::Clock;
pub use packet::packet;
pub use status::{AdjudicationStatus, LabelStatus, RaterStatus, Status, duration, status};

use self::app::App;
use crate::error::{Error, Kind, Result};

/// How to serve.
#[derive(Debug, Clone)]
pub struct Config {
    /// The database.
    pub db: PathBuf,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Names under which the server may be called, beside addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Cases of full agreement that the adjudicator checks.
    pub spot_checks: usize,
    /// The clock.
    pub clock: Clock,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
}

impl Server {
    /// Opens the database and starts to listen; requests wait until [`Server::run`].
    ///
    /// # Errors
    /// No database, or an address that cannot be listened on.
    pub fn bind(config: Config) -> Result<Self> {
        let cannot = |error: std::io::Error| {
            Error::new(Kind::Io, format!("cannot listen on {}: {error}", config.listen))
                .hint("choose another address with --listen, such as 127.0.0.1:0 for any free port")
        };
        let listener = TcpListener::bind(config.listen).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let app = App::new(config.db, config.clock, config.hosts, address.port(), config.spot_checks)?;
        Ok(Self { listener, address, app: Arc::new(app) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until the program is interrupted.
    ///
    /// # Errors
    /// The system refuses.
    pub fn run(self) -> Result<()> {
        let failed = |error: std::io::Error| Error::new(Kind::Io, format!("the server cannot run: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(16)
            .build()
            .map_err(failed)?;
        let router = routes::router(self.app);
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
            let interrupted = async {
                // Without the signal there is nothing to wait for: the server runs on.
                if tokio::signal::ctrl_c().await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            axum::serve(listener, router).with_graceful_shutdown(interrupted).await.map_err(failed)
        })
    }
}
