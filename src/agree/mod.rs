//! (module agree)
