//! (module action)
