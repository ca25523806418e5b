//! Removes control sequences from text that other people or programs wrote.

pub(crate) use segue_core::rules::display::{one_line, plain};
