//! Checks texts from users that become arguments of a vendor's command line, or parts of arguments.

use crate::error::{Error, Result};
use crate::model::VendorSessionId;

/// Maximum length of a model name. No model of any provider has a longer name.
const MAX_MODEL_BYTES: usize = 200;
/// Maximum length of a vendor's session id. No vendor has longer ids.
const MAX_ID_BYTES: usize = 200;
/// Maximum length of an address: a vendor's name with an id, or a fleet's name with a session's name.
const MAX_ADDRESS_BYTES: usize = 400;
/// At most this many characters of a rejected text are shown.
const MAX_SHOWN_CHARACTERS: usize = 64;

/// Returns an error for a model name that a program could interpret as something else.
pub fn check_model(model: &str) -> Result<()> {
    check("a model", model, MAX_MODEL_BYTES)
        .map_err(|error| error.hint("use the vendor's own name for it, such as `--model NAME`"))
}

/// Returns an error for a text that cannot be the address of a session or of a conversation.
pub fn check_address(address: &str) -> Result<()> {
    check("a session", address, MAX_ADDRESS_BYTES)
        .map_err(|error| error.hint("run `segue ls --all` to see all sessions"))
}

/// Returns an error for an id that a program could interpret as an option, or that leads out of a
/// folder. Ids come from users and from a vendor's files, which an agent may have written.
pub fn check_id(id: &VendorSessionId) -> Result<()> {
    let hint = "run `segue adopt` to see the conversations that were begun by hand";
    let text = id.as_str();
    check("the id of a conversation", text, MAX_ID_BYTES).map_err(|error| error.hint(hint))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '@');
    if text.chars().all(plain) && !text.starts_with('.') {
        return Ok(());
    }
    let why = "an id has letters, digits, `-`, `_`, `.`, `:` and `@`";
    Err(refused("the id of a conversation", text, why).hint(hint))
}

fn check(noun: &str, text: &str, max_bytes: usize) -> Result<()> {
    if text.trim().is_empty() {
        return Err(refused(noun, text, "it is empty"));
    }
    if text.starts_with('-') {
        let why = "it begins with `-`, and a program would interpret it as an option";
        return Err(refused(noun, text, why));
    }
    if text.chars().any(char::is_control) {
        return Err(refused(noun, text, "it contains control characters"));
    }
    if text.trim() != text {
        return Err(refused(noun, text, "it begins or ends with a space"));
    }
    if text.len() > max_bytes {
        let why = format!("it must have at most {max_bytes} bytes, and has {}", text.len());
        return Err(refused(noun, text, &why));
    }
    Ok(())
}

fn refused(noun: &str, text: &str, why: &str) -> Error {
    let mut shown: String = text.chars().take(MAX_SHOWN_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    Error::usage(format!("`{}` cannot be {noun}", shown.escape_debug())).caused_by(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAD: [&str; 9] =
        ["", " ", "-", "-x", "--allowed-tools=Bash", "a\nb", "a\0", "\u{1b}[31m", " a"];

    #[test]
    fn model_names_of_all_vendors_are_accepted_and_options_are_rejected() {
        let good = [
            "opus",
            "claude-opus-4-8[1m]",
            "anthropic/claude-x:free",
            "@cf/meta/llama",
            "arn:aws:bedrock:us-east-1::model/x",
            "My Model (large)",
        ];
        for model in good {
            assert!(check_model(model).is_ok(), "{model}");
        }
        for model in BAD.into_iter().chain([&*"x".repeat(201)]) {
            let error = check_model(model).unwrap_err();
            assert_eq!(error.kind.exit_status(), 2, "{model:?}");
            assert!(error.message.len() < 120 && !error.hints.is_empty(), "{error:?}");
        }
    }

    #[test]
    fn id_with_path_characters_spaces_or_options_is_rejected() {
        let good = ["0198-77aa", "ses_1", "agent:main", "a.b", "x@y"];
        for id in good {
            assert!(check_id(&VendorSessionId::new(id)).is_ok(), "{id}");
        }
        let worse = ["../x", "a/b", "..", ".x", "a b", "$(x)", "ä", &*"x".repeat(201)];
        for id in BAD.into_iter().chain(worse) {
            assert!(check_id(&VendorSessionId::new(id)).is_err(), "{id:?}");
        }
    }

    #[test]
    fn address_with_slashes_and_colons_is_accepted() {
        for address in ["shop/coder", "segue://session/0198", "claude:0198", "0198"] {
            assert!(check_address(address).is_ok(), "{address}");
        }
        for address in BAD {
            assert!(check_address(address).is_err(), "{address:?}");
        }
    }
}
