//! Parameters of a model, as `judge` and `export --as openai-batch` take them.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::judge::{Parameters, SchemaForm};

/// What is sent beside the messages.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "The model's parameters")]
pub struct ParameterArgs {
    /// Sampling temperature, or `default` to leave it to the server
    #[arg(long, default_value = "0")]
    pub temperature: String,
    /// Seed for the server (pass k gets seed + k − 1) and for the jitter of waits
    #[arg(long)]
    pub seed: Option<u64>,
    /// The most tokens of an answer
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u32>,
    /// Further fields of the request as a JSON object; stored with every answer
    #[arg(long, value_name = "JSON")]
    pub extra: Option<String>,
    /// Ask for prose instead of sending a JSON schema
    #[arg(long)]
    pub no_schema: bool,
    /// How often to ask for each case; pass 1 is the rating, the others only tell how far the model repeats itself
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "K")]
    pub passes: u32,
}

impl ParameterArgs {
    /// How the schema is sent at first.
    pub fn first_form(&self) -> SchemaForm {
        if self.no_schema { SchemaForm::Prose } else { SchemaForm::JsonSchema }
    }

    /// The parameters.
    pub fn parameters(&self) -> Result<Parameters> {
        let temperature = match self.temperature.trim() {
            "default" => None,
            text => Some(text.parse::<f64>().ok().filter(|value| (0.0..=10.0).contains(value)).ok_or_else(|| {
                Error::usage(format!("--temperature takes a number from 0 to 10, or `default`, not {text:?}"))
            })?),
        };
        let extra = self.extra.as_deref().map(extra).transpose()?.unwrap_or_default();
        Ok(Parameters { temperature, seed: self.seed, max_tokens: self.max_tokens, extra })
    }
}

fn extra(text: &str) -> Result<Map<String, Value>> {
    let wrong = |message: String| {
        Err(Error::usage(format!("--extra: {message}")).hint(r#"for example --extra '{"reasoning_effort": "low"}'"#))
    };
    let fields: Map<String, Value> = match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return wrong("no JSON object".to_owned()),
        Err(error) => return wrong(error.to_string()),
    };
    let ours = ["model", "messages", "stream", "n", "response_format", "tools", "temperature", "seed", "max_tokens"];
    match fields.keys().find(|name| ours.contains(&name.as_str())) {
        Some(name) => wrong(format!("{name} is not for --extra to set")),
        None => Ok(fields),
    }
}
