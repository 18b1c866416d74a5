//! (module demo)
