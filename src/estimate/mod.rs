//! (module estimate)
