//! One case: ask, send again where the way was bad, check, ask once more with what was wrong, and say what to store.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use super::backoff;
use super::client::{Client, HttpReply, SendError};
use super::reply::{Completion, Meaning, completion, meaning};
use super::request::{Parameters, Request, SchemaForm};
use super::verdict::{Check, Verdict};
use crate::digest::sha256_hex;
use crate::model::CaseIdentity;
use crate::rate::{ExpectedCase, Meta, RaterCase, addressed, prompt};
use crate::rubric::Rubric;
use crate::store::{Asked, NewReply, ReplyOutcome};

/// What all cases of a rater share.
pub struct Judge<'a> {
    /// Whose answers they are.
    pub meta: Meta,
    /// The questions.
    pub rubric: &'a Rubric,
    /// The model as it is asked for.
    pub model: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// How to reach it.
    pub client: Client,
    /// How patient to be.
    pub limits: Limits,
    /// How the schema is sent, as a number; goes one form further, for good, when the server says that it does not know this one.
    pub schema_form: AtomicU8,
    /// Set to stop: no request is begun after that.
    pub stop: &'a AtomicBool,
    /// Milliseconds on a clock that only goes forward.
    pub clock: fn() -> u64,
    /// The moment before which no request may be sent, because the server asked for it.
    pub not_before: AtomicU64,
}

/// How patient to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Requests for one answer at most.
    pub attempts: u32,
    /// The first wait between them.
    pub backoff: Duration,
    /// Seed of the jitter.
    pub seed: u64,
}

/// A case to ask for.
pub struct Job {
    /// The case as the rater may see it.
    pub case: RaterCase,
    /// What its answer is checked against.
    pub facts: ExpectedCase,
    /// The pass, from 1.
    pub pass: u32,
    /// The stored body of a first reply that was not valid: only the second asking is open.
    pub first_reply: Option<String>,
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The case.
    pub case: CaseIdentity,
    /// The pass.
    pub pass: u32,
    /// Replies to store, in order.
    pub replies: Vec<NewReply>,
    /// Why the case is open still.
    pub failure: Option<Failure>,
}

/// Why a case has no answer yet; nothing about it is stored, so it is asked for again next time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// All attempts failed.
    GaveUp,
    /// The server will refuse every other request too.
    Never,
    /// Stopped before it was sent.
    Stopped,
}

/// An answered request.
struct Answered {
    reply: HttpReply,
    meaning: Meaning,
    /// Where `meaning` is [`Meaning::Answered`].
    completion: Completion,
    structured: bool,
    requests: u32,
    milliseconds: u64,
}

impl Judge<'_> {
    /// How the schema is sent now.
    pub fn schema_form(&self) -> SchemaForm {
        SchemaForm::from_number(self.schema_form.load(Ordering::Relaxed))
    }

    /// Asks for one case.
    pub fn judge(&self, job: &Job) -> Judged {
        let mut judged =
            Judged { case: job.case.view.case.clone(), pass: job.pass, replies: Vec::new(), failure: None };
        let check = Check { meta: &self.meta, rubric: self.rubric, case: &job.case, facts: &job.facts };
        let mut request = Request::first(prompt(self.rubric, &job.case), self.rubric, &job.case, &job.facts);
        let mut asking = 1;
        if let Some(body) = &job.first_reply {
            let said = completion(body).unwrap_or_default();
            request = request.again(&said_in(&said), &check.of(&said).problems);
            asking = 2;
        }
        loop {
            let answered = match self.answered(&request, job, asking) {
                Ok(answered) => answered,
                Err(failure) => {
                    judged.failure = Some(failure);
                    return judged;
                }
            };
            let (verdict, final_word) = match &answered.meaning {
                Meaning::TooLong(said) => (check.nothing("too_long", said.clone()), true),
                Meaning::Filtered(said) => (check.nothing("refused", said.clone()), true),
                _ => (check.of(&answered.completion), asking == 2),
            };
            let problems = verdict.problems.clone();
            let reply = self.reply(job, &request, answered, verdict, (asking, final_word));
            let (again, said) = (reply.0.outcome == ReplyOutcome::Again, reply.1);
            judged.replies.push(reply.0);
            if !again {
                return judged;
            }
            request = request.again(&said, &problems);
            asking = 2;
        }
    }

    /// The reply as it is stored, and what the model said.
    fn reply(
        &self,
        job: &Job,
        request: &Request,
        answered: Answered,
        verdict: Verdict,
        (asking, final_word): (u32, bool),
    ) -> (NewReply, String) {
        let outcome = verdict.outcome(final_word);
        let said = answered.completion;
        let asked = Asked {
            model: self.model.clone(),
            parameters: self.parameters.written(),
            structured: answered.structured,
            prompt_digest: request.digest(),
            case_digest: job.case.digest.clone(),
        };
        let spoken = said_in(&said);
        let source = format!(
            "judge {} pass {} (reply sha256 {})",
            self.model,
            job.pass,
            sha256_hex(answered.reply.body.as_bytes())
        );
        let mut reply = new_reply(&self.meta, job, asked, verdict, (asking, outcome), &said);
        for answer in reply.answers.iter_mut().chain(&mut reply.derived) {
            answer.rationale = self.client.clean(&answer.rationale);
        }
        let reply = NewReply {
            endpoint: Some(self.client.endpoint().shown().to_owned()),
            milliseconds: Some(answered.milliseconds),
            requests: answered.requests,
            raw: answered.reply.body,
            source,
            ..reply
        };
        (reply, spoken)
    }

    /// Sends a request until it is answered or all attempts have failed.
    fn answered(&self, request: &Request, job: &Job, asking: u32) -> Result<Answered, Failure> {
        let mut attempt = 0;
        let mut requests = 0;
        loop {
            self.wait_for_turn()?;
            let form = self.schema_form();
            let structured = form.structured();
            let body = request.body(&self.model, &self.parameters, job.pass, form).to_string();
            let began = (self.clock)();
            requests += 1;
            let sent = self.client.send(body.as_bytes());
            let milliseconds = (self.clock)().saturating_sub(began);
            let mut asked_for = None;
            let trouble = match sent {
                Err(SendError::Hopeless(message)) => return Err(Failure { kind: FailureKind::Never, message }),
                Err(SendError::Broken(message)) => message,
                Ok(reply) => {
                    asked_for = reply.wait;
                    let meaning = meaning(reply.status, &reply.body, structured);
                    match meaning {
                        Meaning::Never(message) => return Err(Failure { kind: FailureKind::Never, message }),
                        Meaning::NoSchema(_) => {
                            // Others may have seen it first; each such request is sent again at once, in the next form.
                            self.schema_form.fetch_max(form.next() as u8, Ordering::Relaxed);
                            continue;
                        }
                        Meaning::Later(message) => message,
                        Meaning::Answered => match completion(&reply.body) {
                            Ok(mut completion) => {
                                // Escapes that the raw text hid are gone now.
                                completion.content = self.client.clean(&completion.content);
                                completion.refusal = completion.refusal.map(|text| self.client.clean(&text));
                                return Ok(Answered { reply, meaning, completion, structured, requests, milliseconds });
                            }
                            Err(message) => message,
                        },
                        Meaning::TooLong(_) | Meaning::Filtered(_) => {
                            let completion = Completion::default();
                            return Ok(Answered { reply, meaning, completion, structured, requests, milliseconds });
                        }
                    }
                }
            };
            attempt += 1;
            if attempt >= self.limits.attempts {
                let message = format!("{trouble} ({attempt} attempts)");
                return Err(Failure { kind: FailureKind::GaveUp, message });
            }
            let share = backoff::share(self.limits.seed, job.case.view.case.as_str(), job.pass * 2 + asking, attempt);
            let wait = backoff::wait(self.limits.backoff, attempt, share, asked_for);
            if let Some(asked) = asked_for {
                // What one request was told holds for all.
                let moment = (self.clock)().saturating_add(millis(asked.min(backoff::LONGEST)));
                self.not_before.fetch_max(moment, Ordering::Relaxed);
            }
            self.pause_until((self.clock)().saturating_add(millis(wait)))?;
        }
    }

    fn wait_for_turn(&self) -> Result<(), Failure> {
        loop {
            let moment = self.not_before.load(Ordering::Relaxed);
            self.pause_until(moment)?;
            if self.not_before.load(Ordering::Relaxed) <= moment {
                return Ok(());
            }
        }
    }

    /// Sleeps in short steps, so that a stop is heard.
    fn pause_until(&self, moment: u64) -> Result<(), Failure> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Failure { kind: FailureKind::Stopped, message: "stopped".to_owned() });
            }
            let left = moment.saturating_sub((self.clock)());
            if left == 0 {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(left.min(50)));
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The model's words: its content, or its refusal.
fn said_in(completion: &Completion) -> String {
    if completion.content.is_empty() {
        completion.refusal.clone().unwrap_or_default()
    } else {
        completion.content.clone()
    }
}

/// A reply with everything that does not depend on how it came.
pub(super) fn new_reply(
    meta: &Meta,
    job: &Job,
    asked: Asked,
    verdict: Verdict,
    (asking, outcome): (u32, ReplyOutcome),
    said: &Completion,
) -> NewReply {
    let whole = outcome != ReplyOutcome::Again;
    let flags = addressed(&job.case.view);
    NewReply {
        case: job.case.view.case.clone(),
        rater: meta.rater.clone(),
        pass: job.pass,
        asking,
        outcome,
        reason: verdict.reason.map(str::to_owned),
        detail: (!verdict.problems.is_empty()).then(|| verdict.problems.join("\n")),
        asked,
        reported_model: said.model.clone(),
        endpoint: None,
        finish_reason: said.finish_reason.clone(),
        prompt_tokens: said.prompt_tokens,
        completion_tokens: said.completion_tokens,
        milliseconds: None,
        requests: 1,
        flags: serde_json::to_string(&flags).unwrap_or_else(|_| "[]".to_owned()),
        raw: String::new(),
        source: String::new(),
        answers: if whole { verdict.answers } else { Vec::new() },
        derived: if whole { verdict.derived } else { Vec::new() },
    }
}
