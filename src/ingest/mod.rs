//! (module ingest)
