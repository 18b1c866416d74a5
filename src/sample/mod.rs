//! (module sample)
