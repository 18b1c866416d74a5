//! Logged chats: what they say beside their emissions.

use rusqlite::params;

use super::{RunWriter, StoreError};
use crate::model::Verdict;
use crate::tau2::Message;

impl RunWriter<'_> {
    /// Stores a logged conversation: the user's own category, its verdict, and every message.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_chat(
        &self,
        case_row: i64,
        category: Option<&str>,
        verdict: Option<Verdict>,
        messages: &[Message],
    ) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached("INSERT INTO chat_cases (case_row, category, verdict) VALUES (?,?,?)")?
            .execute(params![case_row, category, verdict.map(Verdict::as_str)])?;
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO chat_messages (case_row, position, role, content, calls, failed) VALUES (?,?,?,?,?,?)",
        )?;
        for (position, message) in messages.iter().enumerate() {
            let calls = if message.calls.is_empty() { None } else { serde_json::to_string(&message.calls).ok() };
            let failed = message.role == "tool" && message.failed();
            statement.execute(params![case_row, position as i64, message.role, message.content, calls, failed])?;
        }
        Ok(())
    }
}
