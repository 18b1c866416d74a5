//! (module rate)
