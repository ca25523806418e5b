//! Flags among a session's own arguments, and the errors of a launch.

use segue_core::Error;
use segue_core::model::{LaunchMode, Session, VendorSessionId};
use segue_core::ports::CommandPlan;

/// Whether the argument after a flag is the value of the flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagValue {
    Never,
    Always,
    /// The next argument is the value, unless it begins with a dash.
    Optional,
}

/// Returns whether an argument is this flag, alone or with a value as in `--flag=value`.
fn is_flag(argument: &str, flag: &str) -> bool {
    argument.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Returns whether one of these flags is among the arguments.
pub(crate) fn has_flag(arguments: &[String], flags: &[&str]) -> bool {
    arguments.iter().any(|argument| flags.iter().any(|flag| is_flag(argument, flag)))
}

/// Returns the session's own arguments. A resume omits the flags that chose the conversation of the
/// first launch, and their values.
pub(crate) fn own_arguments(
    plan: &CommandPlan<'_>,
    choosing_flags: &[(&str, FlagValue)],
) -> Vec<String> {
    match plan.mode {
        LaunchMode::Fresh => plan.session.args.clone(),
        LaunchMode::Resume => without_flags(&plan.session.args, choosing_flags),
    }
}

/// Returns the arguments without these flags and without their values.
fn without_flags(arguments: &[String], flags: &[(&str, FlagValue)]) -> Vec<String> {
    let mut others = Vec::new();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let value = flags.iter().find(|(flag, _)| is_flag(argument, flag)).map(|(_, value)| *value);
        match value {
            None => others.push(argument.clone()),
            Some(FlagValue::Always) if !argument.contains('=') => {
                let _value = rest.next();
            }
            Some(FlagValue::Optional) if !argument.contains('=') => {
                let _value = rest.next_if(|value| !value.starts_with('-'));
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

/// Returns the error for an id that the vendor would not accept. `form` describes the ids of the
/// vendor.
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
            let arguments_list: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            assert_eq!(without_flags(&arguments_list, &flags).join(" "), wanted, "{arguments}");
        }
        let arguments_list = ["--x=1".to_owned(), "y".to_owned()];
        assert!(has_flag(&arguments_list, &["--x"]) && !has_flag(&arguments_list, &["-x", "--"]));
    }
}
