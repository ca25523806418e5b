//! Calling a person: a notification on the desktop, and a command of the user's own.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// How long whoever is called may take.
const AT_MOST: Duration = Duration::from_secs(10);

/// What calls for a person. None of it becomes part of a shell's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// One line for a person.
    pub title: String,
    pub text: String,
    /// For the user's command.
    pub variables: Vec<(&'static str, String)>,
}

/// Shows a notification where there is a desktop that shows some; nothing happens where there is not.
pub async fn notify(call: Call) {
    let mut command = Command::new("notify-send");
    command.args(["--app-name=segue", "--", &call.title, &without_markup(&call.text)]);
    run(command).await.unwrap_or_else(|why| tracing::debug!(why, "no notification was shown"));
}

/// Returns a text that a desktop shows as it is: what agents say is no markup.
fn without_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Runs the user's command, with what it is about in its environment.
pub async fn call(words: Vec<String>, call: Call) {
    let Some((program, arguments)) = words.split_first() else { return };
    let mut command = Command::new(program);
    command.args(arguments).envs(call.variables);
    let failed = |why: String| tracing::warn!(program, why, "the attention command failed");
    run(command).await.unwrap_or_else(failed);
}

/// Runs a command for a while; it is ended if it takes longer.
async fn run(mut command: Command) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    match tokio::time::timeout(AT_MOST, child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(status.to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("it took longer than {} seconds", AT_MOST.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_agents_are_no_markup_on_the_desktop() {
        let text = "Run <a href=\"x\">ls</a> && rm?";
        let shown = "Run &lt;a href=\"x\"&gt;ls&lt;/a&gt; &amp;&amp; rm?";
        assert_eq!(without_markup(text), shown);
    }
}
