//! `dualrater serve`: the page for raters, adjudicator and owner.

use std::net::SocketAddr;

use super::{Context, Output, clock, output};
use crate::error::Result;
use crate::serve::{Clock, Config, Server};

/// Serve the page on which raters, adjudicator and owner work
///
/// Serve the page on which raters, adjudicator and owner work, each with the secret link that `dualrater raters add` made.
///
/// Without --listen the page can be reached from this computer only. On a network everybody who can reach the address can
/// knock, and what travels is not encrypted: use it among people you trust, or put a proxy with TLS before it. Stop with Ctrl-C;
/// what was acknowledged is stored.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address and port; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8347", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// A name under which the page may be called beside addresses and localhost (may be given again)
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Cases of full agreement that the adjudicator checks
    #[arg(long, default_value_t = 10)]
    spot_checks: usize,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let server = Server::bind(Config {
        db: context.db.clone(),
        listen: args.listen,
        hosts: args.host.clone(),
        spot_checks: args.spot_checks,
        clock: Clock { now: clock::now, millis: clock::millis },
    })?;
    let address = server.address();
    output.line(format!("http://{address}"));
    output.flush();
    if !address.ip().is_loopback() {
        output::message(&format!(
            "warning: {address} can be reached from the network, and nothing on the way is encrypted: a link that is overheard opens the page"
        ));
    }
    let links = context.store()?.access_links()?;
    if links.iter().any(|link| link.valid) {
        output::message("people come with their links (`dualrater raters token` makes a new one); stop with Ctrl-C");
    } else {
        output::message("nobody has a link yet: `dualrater raters add --batch BATCH NAME` makes one; stop with Ctrl-C");
    }
    server.run()
}
