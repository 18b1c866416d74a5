//! The same requests by way of a batch file (the JSON-lines form of OpenAI's batch service, which others read too): written
//! now, answered elsewhere, read back in any order, whole or in part.

use serde_json::{Value, json};

use super::ask::{Job, Judged, new_reply};
use super::reply::{Completion, Meaning, completion, meaning, server_message};
use super::request::{Parameters, Request, SchemaForm};
use super::verdict::Check;
use crate::digest::Canonical;
use crate::rate::{Meta, prompt};
use crate::rubric::Rubric;
use crate::store::{Asked, BatchRequest, NewReply};

/// The id of a request: 44 characters that follow from what is asked of whom, so that the same request has the same id.
#[must_use]
pub fn custom_id(meta: &Meta, job: &Job, asking: u32, prompt_digest: &str) -> String {
    let digest = Canonical::new("batch-request/1")
        .text(meta.batch.as_str())
        .text(meta.rater.as_str())
        .text(&meta.rubric_digest)
        .text(job.case.view.case.as_str())
        .text(&job.case.digest)
        .number(job.pass.into())
        .number(asking.into())
        .text(prompt_digest)
        .finish();
    format!("dr1-{}", digest.get(..40).unwrap_or(&digest))
}

/// A line of a batch file, without its line feed, and what to note of it.
#[must_use]
pub fn request_line(
    meta: &Meta,
    rubric: &Rubric,
    job: &Job,
    model: &str,
    parameters: &Parameters,
    form: SchemaForm,
) -> (String, BatchRequest) {
    let mut request = Request::first(prompt(rubric, &job.case), rubric, &job.case, &job.facts);
    let mut asking = 1;
    if let Some(body) = &job.first_reply {
        let said = completion(body).unwrap_or_default();
        let check = Check { meta, rubric, case: &job.case, facts: &job.facts };
        let words =
            if said.content.is_empty() { said.refusal.clone().unwrap_or_default() } else { said.content.clone() };
        request = request.again(&words, &check.of(&said).problems);
        asking = 2;
    }
    let asked = Asked {
        model: model.to_owned(),
        parameters: parameters.written(),
        structured: form.structured(),
        prompt_digest: request.digest(),
        case_digest: job.case.digest.clone(),
    };
    let custom_id = custom_id(meta, job, asking, &asked.prompt_digest);
    let body = request.body(model, parameters, job.pass, form);
    let line = json!({ "custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body });
    let case = job.case.view.case.clone();
    let noted = BatchRequest { custom_id, case, rater: meta.rater.clone(), pass: job.pass, asking, asked };
    (line.to_string(), noted)
}

/// A line of a results file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchAnswer {
    /// Which request it answers.
    pub custom_id: String,
    status: u16,
    /// The body of the response as it stands in the line.
    body: String,
    /// The batch service's own error.
    error: Option<String>,
}

/// Reads a line of a results or an errors file.
///
/// # Errors
/// It is no such line.
pub fn read_batch_line(line: &str) -> Result<BatchAnswer, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("no JSON object: {error}"))?;
    let custom_id = value.get("custom_id").and_then(Value::as_str).ok_or("the line has no \"custom_id\"")?.to_owned();
    let error = value.get("error").filter(|error| !error.is_null()).map(|error| {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        format!("{} {}", text("code"), text("message")).trim().to_owned()
    });
    let response = value.get("response").filter(|response| !response.is_null());
    let body = response.and_then(|response| response.get("body")).filter(|body| !body.is_null());
    if error.is_none() && body.is_none() {
        return Err("the line has neither \"response\" nor \"error\"".to_owned());
    }
    let stated = response.and_then(|response| response.get("status_code")).and_then(Value::as_u64);
    let status = stated.map_or(200, |status| u16::try_from(status).unwrap_or(0));
    Ok(BatchAnswer { custom_id, status, body: body.map(ToString::to_string).unwrap_or_default(), error })
}

impl BatchAnswer {
    /// What to store for the job that it answers.
    ///
    /// # Errors
    /// The request was not answered: it is to be asked again. Says why.
    pub fn judged(
        &self,
        meta: &Meta,
        rubric: &Rubric,
        job: &Job,
        request: &BatchRequest,
        source: &str,
    ) -> Result<Judged, String> {
        if let Some(error) = &self.error {
            return Err(server_message(error));
        }
        let check = Check { meta, rubric, case: &job.case, facts: &job.facts };
        let (said, verdict, final_word) = match meaning(self.status, &self.body, request.asked.structured) {
            Meaning::Answered => {
                let said = completion(&self.body)?;
                let verdict = check.of(&said);
                (said, verdict, request.asking == 2)
            }
            Meaning::TooLong(message) => (Completion::default(), check.nothing("too_long", message), true),
            Meaning::Filtered(message) => (Completion::default(), check.nothing("refused", message), true),
            Meaning::Later(message) | Meaning::NoSchema(message) | Meaning::Never(message) => return Err(message),
        };
        let outcome = verdict.outcome(final_word);
        let reply = new_reply(meta, job, request.asked.clone(), verdict, (request.asking, outcome), &said);
        let reply = NewReply { raw: self.body.clone(), source: source.to_owned(), ..reply };
        Ok(Judged { case: job.case.view.case.clone(), pass: job.pass, replies: vec![reply], failure: None })
    }
}
