//! How a turn is interrupted.

use crate::word_enum::word_enum;

word_enum! {
    /// How the turn of an agent is interrupted.
    pub enum InterruptMethod {
        /// The keys that interrupt a turn are typed into the agent's terminal.
        Keys = "keys",
        /// The process of a headless turn is ended: it has no terminal.
        Stop = "stop",
    }
}
