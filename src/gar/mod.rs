//! (module gar)
