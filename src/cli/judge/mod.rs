//! `dualrater judge`: a language model as a rater.

mod dry_run;
mod interrupt;
mod options;
mod results;
mod summary;
mod work;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub(super) use options::ParameterArgs;
pub(super) use results::{import_results, is_results};
pub(super) use work::{Work, check_same_parameters, note_requests, write_batch_file};

use super::desk::Desk;
use super::{Context, Output, clock, output};
use crate::error::{Error, Kind, Place, Result};
use crate::judge::{ApiKey, Client, Endpoint, FailureKind, Judge, Judged, Limits, SchemaForm, run as ask_all};
use crate::model::{BatchName, RaterKind, RaterName};
use crate::rate::Meta;
use crate::store::{NewReply, ReplyOutcome};

/// Have a language model rate a batch
///
/// Have a language model rate a batch, by way of an OpenAI-compatible chat endpoint.
///
/// The model gets the rubric as system message and one case as user message, as a person sees it, and nothing else. Its
/// reply is checked like a person's answer. One that is not valid is asked for once more with what was wrong; after that,
/// labels without a valid answer have *no verdict*, which every table counts. Every reply is stored at once: stop at any
/// time (Ctrl-C waits for what is in flight, twice does not) and run the same command again to go on.
///
/// The key is read from the environment (OPENAI_API_KEY, or the variable named by --api-key-env) or from a file, never from
/// the command line, and is neither stored nor printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dualrater judge --batch main --rater m1 --endpoint http://127.0.0.1:8000/v1 --model qwen3-32b --dry-run
  dualrater judge --batch main --rater m1 --endpoint http://127.0.0.1:8000/v1 --model qwen3-32b --passes 3 --seed 1
Without a server at hand: dualrater export --as openai-batch, later dualrater import")]
pub struct Args {
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// The rater's name; one name for one model and one set of parameters
    #[arg(long)]
    rater: RaterName,
    /// The model, as the server names it
    #[arg(long)]
    model: String,
    /// Base URL of the server, such as https://api.openai.com/v1
    #[arg(long, env = "OPENAI_BASE_URL", hide_env_values = true, value_name = "URL")]
    endpoint: Option<String>,
    /// The environment variable that holds the key
    #[arg(long, default_value = "OPENAI_API_KEY", value_name = "NAME")]
    api_key_env: String,
    /// A file that holds the key
    #[arg(long, value_name = "FILE", conflicts_with = "api_key_env")]
    api_key_file: Option<PathBuf>,
    /// Trust the certificates in this PEM file, and no others
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Ask for this many cases (and passes of them) at most, then stop
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Requests at the same time
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// Seconds to wait for one reply
    #[arg(long, default_value_t = 120.0, value_name = "SECONDS")]
    timeout: f64,
    /// Requests for one answer, before the case is left open
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=50))]
    attempts: u32,
    /// Seconds before the second attempt; doubles with each further one
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    backoff: f64,
    /// Ask nobody: print the first prompt and what the whole would cost
    #[arg(long)]
    dry_run: bool,
    /// Price of a million tokens of prompt, for the estimate and the sum
    #[arg(long, value_name = "PRICE")]
    price_in: Option<f64>,
    /// Price of a million tokens of answer
    #[arg(long, value_name = "PRICE")]
    price_out: Option<f64>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    let desk = Desk::open(&store, &args.batch)?;
    let parameters = args.parameters.parameters()?;
    let price = summary::Price { input: args.price_in, output: args.price_out };
    check_same_parameters(&store, &desk, &args.rater, &args.model, &parameters)?;
    let mut work = Work::plan(&store, &desk, &args.rater, args.parameters.passes, args.limit)?;
    if args.dry_run {
        return dry_run::print(&store, &desk, &mut work, args, &parameters, &price, output);
    }
    let client = client(args)?;
    if desk.audit.cases.iter().any(|case| case.model.eq_ignore_ascii_case(&args.model)) {
        output::message(&format!(
            "warning: {} is one of the models that this batch audits; a judge should not be a contestant",
            args.model
        ));
    }
    let meta = Meta::new(&args.batch, &desk.rubric, &args.rater);
    store.register_rater(&desk.batch, &args.rater, RaterKind::Model, Some(&args.model), &clock::now())?;
    let first_form = args.parameters.first_form();
    let judge = Judge {
        meta,
        rubric: &desk.rubric,
        model: args.model.clone(),
        parameters,
        client,
        limits: Limits {
            attempts: args.attempts,
            backoff: seconds("--backoff", args.backoff)?,
            seed: args.parameters.seed.unwrap_or(0),
        },
        schema_form: AtomicU8::new(first_form as u8),
        stop: interrupt::watch()?,
        clock: clock::millis,
        not_before: AtomicU64::new(0),
    };
    let mut tally = Tally::default();
    let total = work.total();
    let bar = progress(total);
    let began = clock::millis();
    let store = std::cell::RefCell::new(store);
    let worked = ask_all(
        &judge,
        usize::from(args.concurrency),
        || work.next_job(&store.borrow(), &desk),
        |group| {
            let replies: Vec<NewReply> = group.iter().flat_map(|judged| judged.replies.clone()).collect();
            store.borrow_mut().record_replies(&desk.batch, &replies, &clock::now())?;
            tally.add(&group);
            bar.inc(group.iter().filter(|judged| judged.failure.is_none()).count() as u64);
            bar.set_message(tally.note());
            tally.tell(total, clock::millis().saturating_sub(began));
            Ok::<(), Error>(())
        },
    );
    bar.finish_and_clear();
    worked?;
    match judge.schema_form() {
        form if form == first_form => {}
        SchemaForm::Prose => output::message(
            "note: the server knows no response_format with a schema; answers were asked for in prose and checked all the same \
             (--no-schema asks so from the start)",
        ),
        _ => output::message(
            "note: the server does not know response_format json_schema; the schema was sent as json_object",
        ),
    }
    let elapsed = clock::millis().saturating_sub(began);
    let found = summary::of(&store.borrow(), &desk, args, &work, &tally, elapsed, &price)?;
    if args.json {
        output.json(&found)?;
    } else {
        summary::print(&found, output);
    }
    if judge.stop.load(Ordering::Relaxed) {
        return Err(Error::new(Kind::Interrupted, "stopped; everything that was answered is stored")
            .hint("the same command again goes on from here"));
    }
    match tally.first_failure {
        Some(message) => Err(Error::new(Kind::Io, format!("{} asked in vain: {message}", cases(tally.open)))
            .hint(remedy(&message, judge.client.endpoint().shown()))),
        None => Ok(()),
    }
}

/// What this run did so far.
#[derive(Debug, Default)]
struct Tally {
    /// Cases and passes that were asked for and have their answer, or have none for good.
    answered: u64,
    /// Of these, those with a label without verdict.
    without: u64,
    /// Left open.
    open: u64,
    /// Replies that were asked for again.
    again: u64,
    first_failure: Option<String>,
    told_at: u64,
}

impl Tally {
    fn add(&mut self, group: &[Judged]) {
        for judged in group {
            for reply in &judged.replies {
                match reply.outcome {
                    ReplyOutcome::Again => self.again += 1,
                    ReplyOutcome::NoVerdict => self.without += 1,
                    ReplyOutcome::Verdict => {}
                }
            }
            match &judged.failure {
                None => self.answered += 1,
                Some(failure) if failure.kind == FailureKind::Stopped => {}
                Some(failure) => {
                    self.open += 1;
                    // What stops the whole run is the one to tell.
                    if self.first_failure.is_none() || failure.kind == FailureKind::Never {
                        self.first_failure = Some(failure.message.clone());
                    }
                }
            }
        }
    }

    fn note(&self) -> String {
        format!("{} without verdict, {} asked again, {} open", self.without, self.again, self.open)
    }

    /// A line now and then where no bar is seen.
    fn tell(&mut self, total: usize, elapsed: u64) {
        const EVERY: u64 = 15_000;
        if output::watched() || elapsed < self.told_at + EVERY {
            return;
        }
        self.told_at = elapsed;
        let rate = self.answered as f64 * 1000.0 / elapsed.max(1) as f64;
        let left = (total as u64).saturating_sub(self.answered) as f64 / rate.max(1e-9);
        let left = if self.answered == 0 { "time left unknown".to_owned() } else { format!("{left:.0} s left") };
        output::message(&format!("{} of {total} · {rate:.1} a second · {left} · {}", self.answered, self.note()));
    }
}

fn client(args: &Args) -> Result<Client> {
    let text = args.endpoint.as_deref().filter(|text| !text.trim().is_empty()).ok_or_else(|| {
        Error::usage("no endpoint").hint("name the server with --endpoint URL or OPENAI_BASE_URL; --dry-run needs none")
    })?;
    let endpoint = Endpoint::parse(text).map_err(|error| Error::usage(error.to_string()))?;
    let key = key(args)?;
    if key.is_some() && endpoint.is_exposed() {
        output::message("warning: the key and all cases travel unencrypted to another machine (http, not https)");
    }
    let certificates = match &args.ca_file {
        Some(path) => Some(std::fs::read(path).map_err(|source| Error::io("read", path, &source))?),
        None => None,
    };
    let timeout = seconds("--timeout", args.timeout)?;
    Client::new(endpoint, key, timeout, certificates.as_deref(), usize::from(args.concurrency)).map_err(|error| {
        let error = Error::data(error.to_string());
        args.ca_file.as_ref().map_or(error.clone(), |path| error.at(Place::file(path)))
    })
}

fn key(args: &Args) -> Result<Option<ApiKey>> {
    let (text, place) = match &args.api_key_file {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|source| Error::io("read", path, &source))?;
            (text, path.display().to_string())
        }
        None => match std::env::var(&args.api_key_env) {
            Ok(text) if !text.trim().is_empty() => (text, args.api_key_env.clone()),
            // Servers on the own machine need none.
            _ => return Ok(None),
        },
    };
    ApiKey::parse(&text).map(Some).map_err(|error| Error::data(format!("{place}: {error}")))
}

fn seconds(option: &str, value: f64) -> Result<Duration> {
    let usable = value.is_finite() && (0.001..=86_400.0).contains(&value);
    if usable {
        Ok(Duration::from_secs_f64(value))
    } else {
        Err(Error::usage(format!("{option} takes seconds between 0.001 and 86400")))
    }
}

fn progress(total: usize) -> ProgressBar {
    let bar = if output::watched() { ProgressBar::new(total as u64) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos} of {len} · {per_sec} · {eta} left · {msg}") {
        bar.set_style(style);
    }
    bar
}

pub(super) fn cases(count: u64) -> String {
    format!("{count} case{}", if count == 1 { "" } else { "s" })
}

fn remedy(message: &str, endpoint: &str) -> String {
    let lower = message.to_lowercase();
    if lower.contains("http 401") || lower.contains("http 403") {
        "the server does not take the key: see OPENAI_API_KEY, --api-key-env, --api-key-file".to_owned()
    } else if lower.contains("http 404") {
        format!("asked at {endpoint}: is that the base URL (it often ends in /v1), and does the server know the model?")
    } else if lower.contains("certificate") {
        "a server with a certificate of its own needs --ca-file".to_owned()
    } else if lower.contains("http 3") {
        "the server redirects; name the address that it points to".to_owned()
    } else {
        format!("asked at {endpoint}; the same command again asks for what is open")
    }
}
