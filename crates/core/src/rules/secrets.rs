//! Keeping secrets off command lines, where every process of the machine can read them.

use crate::error::{Error, Result};

const TELLING_FLAGS: [&str; 6] = ["api-key", "apikey", "token", "secret", "password", "passwd"];
const TELLING_VALUES: [&str; 9] =
    ["sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AKIA", "AIza", "-----BEGIN"];

/// Refuses arguments that look as if they carried a secret.
pub fn refuse_in_arguments(arguments: &[String]) -> Result<()> {
    let position = arguments.iter().enumerate().position(|(at, argument)| {
        let next = arguments.get(at + 1).map(String::as_str);
        carries_value(argument) || flag_with_value(argument, next)
    });
    let Some(position) = position else {
        return Ok(());
    };
    let flag = arguments[position].split('=').next().unwrap_or_default();
    let shown =
        if carries_value(flag) { format!("argument {}", position + 1) } else { flag.into() };
    Err(Error::usage(format!("`{shown}` would put a secret on a command line"))
        .caused_by("every process on this machine can read command lines, and Segue records them")
        .hint("give it to the agent in an environment variable"))
}

fn carries_value(argument: &str) -> bool {
    let value = argument.split_once('=').map_or(argument, |(_, value)| value);
    TELLING_VALUES.iter().any(|start| value.starts_with(start) && value.len() > start.len() + 8)
}

fn flag_with_value(argument: &str, next: Option<&str>) -> bool {
    let Some(flag) = argument.strip_prefix("--") else {
        return false;
    };
    let (name, value) = match flag.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (flag, next.filter(|next| !next.starts_with('-'))),
    };
    let telling =
        TELLING_FLAGS.iter().any(|word| name == *word || name.ends_with(&format!("-{word}")));
    telling && value.is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: &[&str]) -> bool {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        refuse_in_arguments(&arguments).is_err()
    }

    #[test]
    fn secrets_are_refused_and_ordinary_arguments_are_not() {
        assert!(refused(&["--api-key", "abc"]));
        assert!(refused(&["--openai-api-key=abc"]));
        assert!(refused(&["-x", "sk-0123456789abcdef"]));
        assert!(refused(&["ghp_0123456789abcdef"]));
        assert!(!refused(&["--max-tokens", "100"]));
        assert!(!refused(&["--model", "m", "--verbose"]));
        assert!(!refused(&["--token"]));
        assert!(!refused(&["sk-ip"]));
    }

    #[test]
    fn the_error_does_not_repeat_the_secret() {
        let error = refuse_in_arguments(&["sk-0123456789abcdef".to_owned()]).unwrap_err();
        assert!(!error.to_string().contains("0123456789abcdef"));
    }
}
