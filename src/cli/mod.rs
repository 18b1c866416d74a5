//! (module cli)
