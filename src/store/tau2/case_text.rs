//! The units of τ² and logged chats as sections that a rubric can show.

use rusqlite::{OptionalExtension as _, params};

use super::reads::value;
use crate::model::{CaseText, Category, ConditionText, Section, SectionEntry, SectionKind, Verdict};
use crate::store::runs::category_of;
use crate::store::{RunRow, Store, StoreError, StoredCase};
use crate::tau2::{Task, ToolCall};

/// A message as stored.
struct Stored {
    position: u32,
    role: String,
    content: Option<String>,
    calls: Vec<ToolCall>,
    failed: bool,
}

/// The place of a write in its simulation.
struct Write {
    simulation: i64,
    message: u32,
    call: usize,
    failed: bool,
}

impl Store {
    /// The text of a τ² unit.
    pub(in crate::store) fn tau2_case_text(&self, case: &StoredCase) -> Result<CaseText, StoreError> {
        let run = self.run(case.identity.run())?;
        let id = case.identity.case();
        let category = category_of(&case.category)?;
        let missing = || StoreError::Damaged { what: format!("a batch case {id} that run {} lacks", run.name) };
        let sections = match category {
            Category::Tau2Task => {
                let task = self.task_of_case(&run, id)?.ok_or_else(missing)?;
                let mut sections = task_sections(&task);
                sections.extend(self.policy(&run)?);
                sections
            }
            Category::Tau2Write => {
                let write = self.write_of_case(&run, id)?.ok_or_else(missing)?;
                let messages = self.tau2_messages(&run, write.simulation)?;
                let mut sections = self.policy(&run)?;
                sections.extend(write_sections(&messages, &write, self.tau2_domain(&run)?));
                sections
            }
            _ => {
                let (simulation, task) = self.simulation_of_case(&run, id)?.ok_or_else(missing)?;
                let mut sections = task.as_ref().map(task_sections).unwrap_or_default();
                sections.extend(self.policy(&run)?);
                let messages = self.tau2_messages(&run, simulation)?;
                sections.push(dialogue(&messages, self.tau2_domain(&run)?));
                sections
            }
        };
        Ok(CaseText {
            case: case.identity.clone(),
            category,
            stratum: case.stratum.clone(),
            transition: case.transition.as_deref().and_then(crate::model::Transition::parse),
            user_turns: None,
            ground_truth: None,
            ground_truth_reason: None,
            baseline: ConditionText {
                run: run.name,
                model: run.model,
                condition: run.condition,
                verdict: case.verdict.as_deref().and_then(Verdict::parse),
                ..ConditionText::default()
            },
            second: None,
            sections,
        })
    }

    /// The whole conversation of a logged chat.
    pub(in crate::store) fn chat_sections(&self, case_row: i64) -> Result<Vec<Section>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT position, role, content, calls, failed FROM chat_messages WHERE case_row = ? ORDER BY position",
        )?;
        let messages = stored(statement.query([case_row])?)?;
        Ok(if messages.is_empty() { Vec::new() } else { vec![dialogue(&messages, None)] })
    }

    fn tau2_domain(&self, run: &RunRow) -> Result<Option<crate::tau2::Domain>, StoreError> {
        Ok(self.tau2_run(run)?.map(|record| record.domain))
    }

    fn task_of_case(&self, run: &RunRow, case_id: &str) -> Result<Option<Task>, StoreError> {
        let json: Option<String> = self
            .connection
            .prepare_cached("SELECT task FROM tau2_tasks WHERE run = ? AND case_id = ?")?
            .query_row(params![run.id, case_id], |row| row.get(0))
            .optional()?;
        json.map(|json| value(&json, "a task")).transpose()
    }

    fn simulation_of_case(&self, run: &RunRow, case_id: &str) -> Result<Option<(i64, Option<Task>)>, StoreError> {
        let found: Option<(i64, Option<String>)> = self
            .connection
            .prepare_cached(
                "SELECT s.ordinal, t.task FROM tau2_simulations AS s
                 LEFT JOIN tau2_tasks AS t ON t.run = s.run AND t.ordinal = s.task WHERE s.run = ? AND s.case_id = ?",
            )?
            .query_row(params![run.id, case_id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((ordinal, json)) = found else { return Ok(None) };
        Ok(Some((ordinal, json.map(|json| value(&json, "a task")).transpose()?)))
    }

    fn write_of_case(&self, run: &RunRow, case_id: &str) -> Result<Option<Write>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT simulation, message, call, failed FROM tau2_writes WHERE run = ? AND case_id = ?")?
            .query_row(params![run.id, case_id], |row| {
                let call: u32 = row.get(2)?;
                Ok(Write { simulation: row.get(0)?, message: row.get(1)?, call: call as usize, failed: row.get(3)? })
            })
            .optional()?)
    }

    fn tau2_messages(&self, run: &RunRow, simulation: i64) -> Result<Vec<Stored>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT position, role, content, calls, failed FROM tau2_messages WHERE run = ? AND simulation = ?
             ORDER BY position",
        )?;
        stored(statement.query(params![run.id, simulation])?)
    }

    /// What the policy says about consent.
    fn policy(&self, run: &RunRow) -> Result<Vec<Section>, StoreError> {
        let policy: Option<String> = self
            .connection
            .prepare_cached("SELECT policy FROM tau2_runs WHERE run = ?")?
            .query_row([run.id], |row| row.get(0))
            .optional()?
            .flatten();
        let lines = policy.as_deref().map(consent_lines).unwrap_or_default();
        let text = if lines.is_empty() {
            match policy {
                None => "The run file does not hold the policy.".to_owned(),
                Some(_) => "The policy in the run file has no line about confirmation before a write.".to_owned(),
            }
        } else {
            lines.join("\n")
        };
        Ok(vec![Section {
            kind: SectionKind::Policy,
            title: "What the policy says".to_owned(),
            entries: vec![entry("policy", text, 0)],
        }])
    }
}

fn stored(mut rows: rusqlite::Rows<'_>) -> Result<Vec<Stored>, StoreError> {
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let calls: Option<String> = row.get(3)?;
        messages.push(Stored {
            position: row.get(0)?,
            role: row.get(1)?,
            content: row.get(2)?,
            calls: calls.map(|json| value(&json, "calls")).transpose()?.unwrap_or_default(),
            failed: row.get(4)?,
        });
    }
    Ok(messages)
}

fn entry(speaker: &str, text: String, message: u32) -> SectionEntry {
    SectionEntry { speaker: speaker.to_owned(), text, message, ..SectionEntry::default() }
}

/// The lines of a policy that ask for the user's consent before a write.
fn consent_lines(policy: &str) -> Vec<&str> {
    let asks = |line: &&str| {
        let line = line.to_lowercase();
        line.contains("before") && line.contains("confirm") && (line.contains("database") || line.contains("explicit"))
    };
    policy.lines().map(str::trim).filter(asks).collect()
}

fn task_sections(task: &Task) -> Vec<Section> {
    let actions: Vec<String> = task.actions.iter().map(|action| call_text(&action.name, &action.arguments)).collect();
    let scenario = serde_json::from_str(&task.scenario).map_or_else(|_| task.scenario.clone(), |value| told(&value));
    let mut entries = vec![entry("what the user is told", scenario, 0)];
    if let Some(keywords) = Some(task.keywords()).filter(|keywords| !keywords.is_empty()) {
        entries.push(entry("words found", keywords.join("\n"), 0));
    }
    let actions = if actions.is_empty() { "none".to_owned() } else { actions.join("\n") };
    entries.push(entry("reference actions", actions, 0));
    if !task.communicate.is_empty() {
        entries.push(entry("must be communicated", task.communicate.join("\n"), 0));
    }
    vec![Section { kind: SectionKind::Task, title: format!("Task {}", task.id), entries }]
}

/// What a user is told, as a person reads it: a line a field, texts with their line breaks, fields without a value left out.
fn told(scenario: &serde_json::Value) -> String {
    fn add(name: &str, value: &serde_json::Value, lines: &mut Vec<String>) {
        let name = name.replace('_', " ");
        match value {
            serde_json::Value::Null => {}
            serde_json::Value::Object(map) => map.iter().for_each(|(key, value)| add(key, value, lines)),
            serde_json::Value::String(text) if text.contains('\n') => {
                lines.push(format!("{name}:\n{}", text.trim_end()));
            }
            serde_json::Value::String(text) => lines.push(format!("{name}: {text}")),
            other => lines.push(format!("{name}: {other}")),
        }
    }
    match scenario {
        serde_json::Value::String(text) => text.clone(),
        _ => {
            let mut lines = Vec::new();
            add("told", scenario, &mut lines);
            lines.join("\n")
        }
    }
}

/// A call as text, the arguments in the order of the file.
fn call_text(name: &str, arguments: &serde_json::Value) -> String {
    match arguments {
        serde_json::Value::Object(map) => {
            let pairs: Vec<String> = map.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("{name}({})", pairs.join(", "))
        }
        serde_json::Value::Null => format!("{name}()"),
        other => format!("{name}({other})"),
    }
}

fn message_entries(message: &Stored, domain: Option<crate::tau2::Domain>) -> Vec<SectionEntry> {
    let mut entries = Vec::new();
    let mut text = message.content.clone().unwrap_or_default();
    if message.role == "assistant"
        && let Some((reasoning, rest)) = without_reasoning(&text)
    {
        // The user never saw it, so nothing in it can be what the user agreed to.
        entries.push(SectionEntry {
            aside: true,
            ..entry("reasoning that the user does not see", reasoning, message.position)
        });
        text = rest;
    }
    if message.role == "tool" {
        let speaker = if message.failed { "result (failed)" } else { "result" };
        entries.push(entry(speaker, text, message.position));
    } else if !text.is_empty() || message.calls.is_empty() {
        entries.push(entry(&message.role, text, message.position));
    }
    for call in &message.calls {
        let speaker = if message.role == "assistant" { "call" } else { "call of the user" };
        entries.push(SectionEntry {
            without_arguments: Some(call.name.clone()),
            write: message.role == "assistant" && domain.is_some_and(|domain| domain.writes(&call.name)),
            ..entry(speaker, call_text(&call.name, &call.arguments), message.position)
        });
    }
    entries
}

/// Reasoning blocks and the text without them; `None` where there are none. A block that is not closed goes to the end.
fn without_reasoning(text: &str) -> Option<(String, String)> {
    let (mut reasoning, mut rest, mut left) = (Vec::new(), String::new(), text);
    while let Some((before, inside)) = left.split_once("<think>") {
        rest.push_str(before);
        let (block, behind) = inside.split_once("</think>").unwrap_or((inside, ""));
        reasoning.push(block.trim());
        left = behind;
    }
    rest.push_str(left);
    (!reasoning.is_empty()).then(|| (reasoning.join("\n"), rest.trim().to_owned()))
}

fn dialogue(messages: &[Stored], domain: Option<crate::tau2::Domain>) -> Section {
    Section {
        kind: SectionKind::Dialogue,
        title: "Dialogue".to_owned(),
        entries: messages.iter().flat_map(|message| message_entries(message, domain)).collect(),
    }
}

/// The dialogue before a write, and the write. What stands in the same message before the call belongs to the write.
fn write_sections(messages: &[Stored], write: &Write, domain: Option<crate::tau2::Domain>) -> Vec<Section> {
    let before: Vec<SectionEntry> = messages
        .iter()
        .filter(|message| message.position < write.message)
        .flat_map(|message| message_entries(message, domain))
        .collect();
    let mut entries = Vec::new();
    if let Some(message) = messages.iter().find(|message| message.position == write.message) {
        if let Some(text) = message.content.as_ref().filter(|text| !text.is_empty()) {
            let (reasoning, text) = without_reasoning(text).unwrap_or_else(|| (String::new(), text.clone()));
            for (speaker, text) in
                [("reasoning that the user does not see", reasoning), ("assistant, in the same message", text)]
            {
                if !text.is_empty() {
                    entries.push(SectionEntry { aside: true, ..entry(speaker, text, write.message) });
                }
            }
        }
        for call in message.calls.iter().take(write.call) {
            entries.push(SectionEntry {
                without_arguments: Some(call.name.clone()),
                aside: true,
                ..entry("call before it, in the same message", call_text(&call.name, &call.arguments), write.message)
            });
        }
        if let Some(call) = message.calls.get(write.call) {
            entries.push(SectionEntry {
                without_arguments: Some(call.name.clone()),
                write: true,
                marked: true,
                ..entry("call", call_text(&call.name, &call.arguments), write.message)
            });
        }
    }
    let came = if write.failed { "The call failed; it changed nothing." } else { "The call was executed." };
    entries.push(SectionEntry { aside: true, ..entry("what came of it", came.to_owned(), write.message) });
    vec![
        Section { kind: SectionKind::Dialogue, title: "The dialogue before the write".to_owned(), entries: before },
        Section { kind: SectionKind::WriteEvent, title: "The write".to_owned(), entries },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_about_consent_is_found_and_others_are_not() {
        let policy = "# Policy\n\nBefore any action that updates the database, list it and obtain explicit confirmation.\n\
                      After user confirmation, the status changes.\nDo not be rude.";
        assert_eq!(consent_lines(policy).len(), 1);
    }

    #[test]
    fn reasoning_stands_apart() {
        let both = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(without_reasoning("a <think>b</think> c"), both("b", "a  c"));
        assert_eq!(without_reasoning("<think>b"), both("b", ""));
        assert_eq!(without_reasoning("a </think> c"), None);
    }

    #[test]
    fn a_call_reads_like_one() {
        let arguments = serde_json::json!({ "id": "#W1", "items": ["1"] });
        assert_eq!(call_text("f", &arguments), r##"f(id="#W1", items=["1"])"##);
        assert_eq!(call_text("f", &serde_json::Value::Null), "f()");
    }
}
