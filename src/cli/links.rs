//! `dualrater raters add|token|revoke`: secret links to the page.

use clap::{Subcommand, ValueEnum};

use super::{Context, Output, clock};
use crate::error::{Error, Result};
use crate::model::{BatchName, RaterKind, RaterName};
use crate::serve::Secret;
use crate::store::{BatchInfo, Role, Store};

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Register somebody for a batch and make their secret link to the page
    Add(Whom),
    /// Make a new link for somebody; the old one stops to work
    Token(Whom),
    /// Make somebody's link stop to work; what they answered stays
    Revoke(Whom),
}

#[derive(Debug, clap::Args)]
pub struct Whom {
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// Who; the owner needs no name
    #[arg(required_unless_present_any = ["owner"], conflicts_with = "owner")]
    name: Option<RaterName>,
    /// What they are
    #[arg(long, value_enum, default_value_t = As::Rater, value_name = "ROLE")]
    role: As,
    /// The link of the owner, who sees how far everybody is and agreement so far
    #[arg(long, conflicts_with = "role")]
    owner: bool,
    /// Where `dualrater serve` listens
    #[arg(long, default_value = "http://127.0.0.1:8347", value_name = "URL")]
    url: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    /// Rates the batch
    Rater,
    /// Rules on disagreements
    Adjudicator,
}

pub fn run(action: &Action, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    match action {
        Action::Add(whom) => {
            let batch = store.batch(&whom.batch)?;
            if batch.imported {
                return Err(Error::conflict(format!(
                    "batch {} was made elsewhere; its cases have no text here",
                    batch.name
                ))
                .hint("draw a batch from ingested runs to rate cases"));
            }
            if let Some(name) = &whom.name {
                let kind = if whom.role() == Role::Adjudicator { RaterKind::Adjudicator } else { RaterKind::Human };
                store.register_rater(&batch, name, kind, None, &clock::now())?;
            }
            link(&mut store, &batch, whom, output)
        }
        Action::Token(whom) => {
            let batch = store.batch(&whom.batch)?;
            whom.known(&store, &batch)?;
            link(&mut store, &batch, whom, output)
        }
        Action::Revoke(whom) => {
            let batch = store.batch(&whom.batch)?;
            whom.known(&store, &batch)?;
            let revoked = store.revoke_access(&batch, whom.role(), whom.name.as_ref(), &clock::now())?;
            output.line(match revoked {
                0 => format!("{} had no link", whom.words()),
                _ => format!("the link of {} does not open the page any more", whom.words()),
            });
            Ok(())
        }
    }
}

impl Whom {
    fn role(&self) -> Role {
        match (self.owner, self.role) {
            (true, _) => Role::Owner,
            (false, As::Rater) => Role::Rater,
            (false, As::Adjudicator) => Role::Adjudicator,
        }
    }

    fn words(&self) -> String {
        self.name.as_ref().map_or_else(|| "the owner".to_owned(), ToString::to_string)
    }

    fn known(&self, store: &Store, batch: &BatchInfo) -> Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        let adjudicates = self.role() == Role::Adjudicator;
        let fits = |kind: RaterKind| (kind == RaterKind::Adjudicator) == adjudicates;
        if store.batch_raters(batch)?.iter().any(|(known, kind)| known == name && fits(*kind)) {
            return Ok(());
        }
        Err(Error::not_found(format!("batch {} has no {} {name}", batch.name, self.role().as_str()))
            .hint("`dualrater raters --batch BATCH` lists them, `dualrater raters add` registers one"))
    }
}

/// Makes a link and prints it: the only time that the secret is seen.
fn link(store: &mut Store, batch: &BatchInfo, whom: &Whom, output: &mut Output) -> Result<()> {
    let secret = Secret::new()?;
    store.add_access(batch, whom.role(), whom.name.as_ref(), &secret.digest(), &clock::now())?;
    output.line(format!("link for {} (batch {}), shown only now:", whom.words(), batch.name));
    output.line(format!("{}/in/{}", whom.url.trim_end_matches('/'), secret.reveal()));
    Ok(())
}
