//! Reading an agent's screen and typing into it.

use std::fmt::Debug;
use std::time::Duration;

use crate::model::{DialogText, Screen, Showing};
use crate::rules::dialog;

/// What an agent's screen means, and which keys the agent's program expects.
pub trait Interaction: Debug + Send + Sync {
    /// Returns the state that the screen shows. `None` if the screen is not recognized.
    fn read_screen(&self, _screen: &Screen) -> Option<Showing> {
        None
    }

    /// Returns the text and the choices of the question on the screen.
    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        dialog::read(&screen.rows)
    }

    /// Returns how long a question must be on the screen before it accepts keys. This version of
    /// the program ignores earlier keys because a user could not have read the question yet.
    fn question_ignores_keys_for(&self, _version: Option<&str>) -> Duration {
        Duration::ZERO
    }

    /// Returns how Segue learns that the agent's input accepts text.
    fn readiness(&self) -> Readiness {
        Readiness::Reported
    }

    /// Returns the text to type for a message, and the text that the transcript will contain for
    /// it.
    fn typing(&self, message: &str) -> Typing {
        Typing { text: message.to_owned(), recorded_as: message.to_owned() }
    }

    /// Returns the keys that give this answer to the dialog on the screen. `None` if the screen
    /// shows no dialog with this answer.
    fn answer(&self, _screen: &Screen, _answer: &Answer) -> Option<Vec<u8>> {
        None
    }

    /// Returns the keys that interrupt a turn.
    fn interrupt(&self) -> Vec<u8> {
        b"\x1b".to_vec()
    }
}

/// How Segue learns that an agent's input accepts text. An input can be drawn before it accepts
/// text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// By a signal of the vendor. Segue waits for the signal.
    Reported,
    /// By the screen until the vendor has sent a first signal, and by signals after that. After a
    /// launch that starts with a message, Segue waits for the signal that ends that turn.
    ShownUntilReported,
    /// By the screen. The vendor sends no signal about it.
    Shown,
}

/// How a message is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    /// Pasted in one piece, then sent with Enter.
    pub text: String,
    /// The text that the transcript will contain.
    pub recorded_as: String,
}

/// A user's answer to a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// One of the choices, by its number or by the beginning of its text.
    Choice(String),
}
