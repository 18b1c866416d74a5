//! Escaping and closure on small audits.
