//! (module rubric)
