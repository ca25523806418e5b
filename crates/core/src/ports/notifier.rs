//! Notifications on the user's desktop.

use std::fmt::Debug;

/// Notifies the user. Each function returns at once. Failures are only logged.
pub trait Notifier: Debug + Send + Sync {
    /// Shows a notification on the desktop.
    fn show(&self, notification: Notification);

    /// Runs the user's command, with the variables of the notification in its environment. Does
    /// nothing if `command` is empty.
    fn run(&self, command: Vec<String>, notification: Notification);
}

/// A text for the user. It is passed as arguments and environment variables, never as part of a
/// shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// One line that the user reads.
    pub title: String,
    pub text: String,
    /// Environment variables for the user's command.
    pub variables: Vec<(&'static str, String)>,
}
