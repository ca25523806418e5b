//! Notifies the user: shows a desktop notification and runs the user's own command.

use std::process::Stdio;
use std::time::Duration;

use segue_core::ports::{Notification, Notifier};
use tokio::process::Command;

/// The timeout of the notification program and of the user's command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// Notifies the user with `notify-send` and with the user's own command. Needs a tokio runtime.
#[derive(Clone, Copy, Debug)]
pub struct LocalNotifier;

impl Notifier for LocalNotifier {
    fn show(&self, notification: Notification) {
        tokio::spawn(show(notification));
    }

    fn run(&self, command: Vec<String>, notification: Notification) {
        tokio::spawn(run_command(command, notification));
    }
}

/// Shows a desktop notification. If `notify-send` is missing or fails, only a debug message is
/// logged.
async fn show(notification: Notification) {
    let Notification { title, text, .. } = notification;
    let mut command = Command::new("notify-send");
    command.args(["--app-name=segue", "--", &title, &escape_markup(&text)]);
    run(command).await.unwrap_or_else(|why| tracing::debug!(why, "no notification was shown"));
}

/// Escapes markup characters, because desktops may interpret markup and the text comes from an
/// agent.
fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Runs the user's command, with the variables of the notification in its environment.
async fn run_command(words: Vec<String>, notification: Notification) {
    let Some((program, arguments)) = words.split_first() else { return };
    let mut command = Command::new(program);
    command.args(arguments).envs(notification.variables);
    let failed = |why: String| tracing::warn!(program, why, "the attention command failed");
    run(command).await.unwrap_or_else(failed);
}

/// Runs a command without input and output, and kills it after the timeout.
async fn run(mut command: Command) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    match tokio::time::timeout(COMMAND_TIMEOUT, child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(status.to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("it took longer than {} seconds", COMMAND_TIMEOUT.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_characters_are_escaped_for_the_desktop() {
        let text = "Run <a href=\"x\">ls</a> && rm?";
        let shown = "Run &lt;a href=\"x\"&gt;ls&lt;/a&gt; &amp;&amp; rm?";
        assert_eq!(escape_markup(text), shown);
    }
}
