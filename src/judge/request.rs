//! What is sent: messages, parameters, the schema of the answer.

use serde_json::{Map, Value, json};

use crate::digest::Canonical;
use crate::rate::{Prompt, RaterCase};
use crate::rubric::Rubric;

/// How the schema of an answer goes to the server, the best first: a server that does not know one form is sent the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SchemaForm {
    /// `response_format` of type `json_schema`, as OpenAI, vLLM and others take it.
    JsonSchema,
    /// `response_format` of type `json_object` with the schema beside it, as llama-cpp-python takes it; servers that know
    /// `json_object` alone ignore the schema.
    JsonObject,
    /// In the words of the prompt alone.
    Prose,
}

impl SchemaForm {
    /// From its number, as kept in an atomic.
    #[must_use]
    pub fn from_number(number: u8) -> Self {
        match number {
            0 => Self::JsonSchema,
            1 => Self::JsonObject,
            _ => Self::Prose,
        }
    }

    /// Is a schema sent?
    #[must_use]
    pub fn structured(self) -> bool {
        self != Self::Prose
    }

    /// What to try where this one is not known.
    #[must_use]
    pub fn next(self) -> Self {
        Self::from_number(self as u8 + 1)
    }
}

/// Parameters of a model; recorded with every answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameters {
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Seed of pass 1; pass k is asked with `seed + k − 1`.
    pub seed: Option<u64>,
    /// The most tokens of an answer.
    pub max_tokens: Option<u32>,
    /// Further fields of the request's body.
    pub extra: Map<String, Value>,
}

impl Parameters {
    /// As stored: a JSON object with what was set.
    #[must_use]
    pub fn written(&self) -> String {
        let mut fields = Map::new();
        self.write(&mut fields, 1);
        Value::from(fields).to_string()
    }

    fn write(&self, body: &mut Map<String, Value>, pass: u32) {
        if let Some(temperature) = self.temperature {
            body.insert("temperature".to_owned(), json!(temperature));
        }
        if let Some(seed) = self.seed {
            let seed = seed.saturating_add(u64::from(pass.saturating_sub(1)));
            body.insert("seed".to_owned(), json!(seed));
        }
        if let Some(most) = self.max_tokens {
            body.insert("max_tokens".to_owned(), json!(most));
        }
        for (name, value) in &self.extra {
            body.insert(name.clone(), value.clone());
        }
    }
}

/// One request: the conversation so far and the form of its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Role and content.
    messages: Vec<(&'static str, String)>,
    schema: Value,
}

impl Request {
    /// The first asking: system is the rubric, user is the case; nothing else.
    #[must_use]
    pub fn first(prompt: Prompt, rubric: &Rubric, case: &RaterCase, facts: &crate::rate::ExpectedCase) -> Self {
        let schema = crate::rubric::answer_schema(rubric, facts.category, &facts.stratum, facts.events.as_ref());
        debug_assert_eq!(case.digest, facts.digest, "the case that is shown is the case that is checked");
        Self { messages: vec![("system", prompt.system), ("user", prompt.user)], schema }
    }

    /// The second asking: what the model said, and what was wrong with it.
    #[must_use]
    pub fn again(mut self, said: &str, problems: &[String]) -> Self {
        let list: String = problems.iter().take(20).map(|problem| format!("* {problem}\n")).collect();
        let correction = format!(
            "Your answer cannot be taken:\n\n{list}\nGive back the whole object again in the form that was asked for, with \
             every label in it, and nothing else."
        );
        self.messages.push(("assistant", said.to_owned()));
        self.messages.push(("user", correction));
        self
    }

    /// SHA-256 over the canonical bytes of the messages.
    #[must_use]
    pub fn digest(&self) -> String {
        let parts: Vec<&str> = self.messages.iter().flat_map(|(role, content)| [*role, content.as_str()]).collect();
        Canonical::new("prompt/1").list(&parts).finish()
    }

    /// Characters of all messages.
    #[must_use]
    pub fn characters(&self) -> usize {
        self.messages.iter().map(|(_, content)| content.chars().count()).sum()
    }

    /// The messages as they are sent.
    #[must_use]
    pub fn messages(&self) -> &[(&'static str, String)] {
        &self.messages
    }

    /// The schema of the answer.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The body of the request as a JSON object.
    #[must_use]
    pub fn body(&self, model: &str, parameters: &Parameters, pass: u32, form: SchemaForm) -> Value {
        let messages = self.messages.iter().map(|(role, content)| json!({ "role": role, "content": content }));
        let mut body = Map::new();
        body.insert("model".to_owned(), model.into());
        body.insert("messages".to_owned(), messages.collect());
        parameters.write(&mut body, pass);
        let format = match form {
            SchemaForm::JsonSchema => {
                let schema = json!({ "name": "rating", "strict": true, "schema": self.schema });
                Some(json!({ "type": "json_schema", "json_schema": schema }))
            }
            SchemaForm::JsonObject => Some(json!({ "type": "json_object", "schema": self.schema })),
            SchemaForm::Prose => None,
        };
        body.extend(format.map(|format| ("response_format".to_owned(), format)));
        body.into()
    }
}
