//! Refuses secrets on command lines, where every process of the machine can read them, and in
//! project files.

use super::{redaction, shapes};
use crate::error::{Error, Result};

const SECRET_NAMES: [&str; 6] = ["api-key", "apikey", "token", "secret", "password", "passwd"];

/// Returns an error if an argument seems to contain a secret.
pub fn refuse_in_arguments(arguments: &[String]) -> Result<()> {
    let position = arguments.iter().enumerate().position(|(at, argument)| {
        let next = arguments.get(at + 1).map(String::as_str);
        contains_secret(argument) || is_secret_flag(argument, next)
    });
    let Some(position) = position else {
        return Ok(());
    };
    let flag = arguments[position].split('=').next().unwrap_or_default();
    let shown =
        if contains_secret(flag) { format!("argument {}", position + 1) } else { flag.into() };
    Err(Error::usage(format!("`{shown}` would put a secret on a command line"))
        .caused_by("every process on this machine can read command lines, and Segue records them")
        .hint("give it to the agent in an environment variable"))
}

/// Returns an error if a variable of a project file seems to contain a secret.
pub fn refuse_in_variable(name: &str, value: &str) -> Result<()> {
    let has_secret_name = is_secret_name(name) || redaction::is_password_variable(name);
    if value.is_empty() || !(has_secret_name || is_secret(value)) {
        return Ok(());
    }
    Err(Error::usage(format!("`{name}` would put a secret into a file"))
        .caused_by("others can read the project file, and Segue records its content")
        .hint(format!("take it out, and run `export {name}=…` before `segue up`")))
}

fn contains_secret(argument: &str) -> bool {
    is_secret(argument) || argument.split_once('=').is_some_and(|(_, value)| is_secret(value))
}

fn is_secret(value: &str) -> bool {
    shapes::at_start(value).is_some()
        || value.starts_with(shapes::BLOCK_BEGIN)
        || has_password(value)
}

/// Returns whether this is a URL with a password, or an authorization header.
fn has_password(value: &str) -> bool {
    let host = value.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
    let user = host.and_then(|host| host.rsplit_once('@')).map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':'))
        || value.to_ascii_lowercase().starts_with("authorization:")
}

/// Returns whether the name of a flag or a variable indicates that its value is secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    SECRET_NAMES.iter().any(|word| name == *word || name.ends_with(&format!("-{word}")))
}

/// Returns whether an argument is a flag such as `--api-key` that has a value. The value can be the
/// next argument.
fn is_secret_flag(argument: &str, next: Option<&str>) -> bool {
    let Some(flag) = argument.strip_prefix("--") else {
        return false;
    };
    let (name, value) = match flag.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (flag, next.filter(|next| !next.starts_with('-'))),
    };
    is_secret_name(name) && value.is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: &[&str]) -> bool {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        refuse_in_arguments(&arguments).is_err()
    }

    #[test]
    fn arguments_with_secrets_are_rejected_and_ordinary_arguments_are_accepted() {
        assert!(refused(&["--api-key", "abc"]));
        assert!(refused(&["--openai-api-key=abc"]));
        assert!(refused(&["-x", "sk-0123456789abcdef"]));
        assert!(refused(&["ghp_0123456789abcdef"]));
        assert!(refused(&["--API_KEY", "abc"]));
        assert!(refused(&["--proxy=https://me:word@host/x"]));
        assert!(refused(&["-H", "Authorization: Bearer abc"]));
        assert!(!refused(&["--url", "https://host/a:b@c"]));
        assert!(!refused(&["--max-tokens", "100"]));
        assert!(!refused(&["--model", "m", "--verbose"]));
        assert!(!refused(&["--token"]));
        assert!(!refused(&["sk-ip"]));
    }

    #[test]
    fn secret_variable_is_recognized_by_its_name_or_its_value() {
        let refused = |name: &str, value: &str| refuse_in_variable(name, value).is_err();
        assert!(refused("SHOP_API_KEY", "abc"));
        assert!(refused("GH_TOKEN", "abc"));
        assert!(refused("DB_PASS", "abc"));
        assert!(!refused("FIRST_PASS", "abc"));
        assert!(!refused("SORT_KEY", "name"));
        assert!(refused("EXAMPLE", "sk-0123456789abcdef"));
        assert!(!refused("SHOP_API_KEY", ""));
        assert!(!refused("MAX_TOKENS", "100"));
        assert!(!refused("EXAMPLE", "1"));
    }

    #[test]
    fn error_does_not_contain_the_secret() {
        let error = refuse_in_arguments(&["sk-0123456789abcdef".to_owned()]).unwrap_err();
        assert!(!error.to_string().contains("0123456789abcdef"));
    }
}
