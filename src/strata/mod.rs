//! (module strata)
