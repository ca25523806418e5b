//! Parts of a launch that several vendors share: flags among a session's own arguments, and errors.

use segue_core::Error;
use segue_core::model::{Session, VendorSessionId};

/// Whether a value follows a flag as a word of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagValue {
    Never,
    Always,
    /// The next word is the value, unless it begins with a dash.
    Optional,
}

/// Returns whether a word is this flag, alone or with a value as in `--flag=value`.
pub(crate) fn is_flag(word: &str, flag: &str) -> bool {
    word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Returns whether one of these flags is among the arguments.
pub(crate) fn has_flag(arguments: &[String], flags: &[&str]) -> bool {
    arguments.iter().any(|word| flags.iter().any(|flag| is_flag(word, flag)))
}

/// Returns the arguments without these flags and without their values.
pub(crate) fn without_flags(arguments: &[String], flags: &[(&str, FlagValue)]) -> Vec<String> {
    let mut others = Vec::new();
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let known = flags.iter().find(|(flag, _)| is_flag(word, flag)).map(|(_, value)| *value);
        match known {
            None => others.push(word.clone()),
            Some(FlagValue::Always) if !word.contains('=') => {
                let _value = words.next();
            }
            Some(FlagValue::Optional) if !word.contains('=') => {
                let _value = words.next_if(|value| !value.starts_with('-'));
            }
            Some(_) => {}
        }
    }
    others
}

/// Returns the error for a resume without the id of the conversation.
pub(crate) fn missing_id(session: &Session) -> Error {
    let address = session.address();
    Error::internal(format!("cannot resume session `{address}` without the id of its conversation"))
}

/// Returns the error for an id that the vendor would not accept as one. `form` describes the ids of
/// the vendor.
pub(crate) fn invalid_id(id: &VendorSessionId, form: &str) -> Error {
    Error::vendor(format!("`{id}` is not an id of a conversation")).caused_by(form)
}

/// Returns the error for a headless launch without a message.
pub(crate) fn missing_prompt(session: &Session) -> Error {
    let address = session.address();
    Error::usage(format!("session `{address}` is headless and was given no prompt"))
        .hint("run `segue run --headless PROMPT`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_flags_removes_each_flag_with_its_value() {
        let flags = [
            ("--always", FlagValue::Always),
            ("--may", FlagValue::Optional),
            ("--never", FlagValue::Never),
        ];
        for (arguments, wanted) in [
            ("--always x y", "y"),
            ("--always=x y", "y"),
            ("--always", ""),
            ("--may x y", "y"),
            ("--may --other", "--other"),
            ("--may=x y", "y"),
            ("--never x", "x"),
            ("--alwaysx x", "--alwaysx x"),
        ] {
            let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            assert_eq!(without_flags(&words, &flags).join(" "), wanted, "{arguments}");
        }
        let words = ["--x=1".to_owned(), "y".to_owned()];
        assert!(has_flag(&words, &["--x"]) && !has_flag(&words, &["-x", "--"]));
    }
}
