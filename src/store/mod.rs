//! (module store)
