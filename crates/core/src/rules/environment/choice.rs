//! Decides which environment a launch gets.

use crate::model::{Environment, EnvironmentSource};

/// Variables that a shell sets for itself. They are not passed from one environment to another.
const SHELL_INTERNAL: [&str; 5] = ["PWD", "OLDPWD", "SHLVL", "_", "HISTFILE"];

/// Variables that belong to a terminal, a desktop or a login that may be over. Their old values
/// would be wrong in a later launch.
const SESSION_BOUND: [&str; 38] = [
    "TERM",
    "COLORTERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "LINES",
    "COLUMNS",
    "WINDOWID",
    "WINDOW",
    "STY",
    "TTY",
    "GPG_TTY",
    "SSH_TTY",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "VTE_VERSION",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "SESSION_MANAGER",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "DESKTOP_STARTUP_ID",
    "GDMSESSION",
    "XDG_ACTIVATION_TOKEN",
    "XDG_CURRENT_DESKTOP",
    "XDG_SEAT",
    "XDG_VTNR",
    "XDG_MENU_PREFIX",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "MANAGERPID",
    "SYSTEMD_EXEC_PID",
    "MAIL",
];

/// Prefixes of variables that belong to Segue itself, to a terminal or to a login.
const SESSION_BOUND_PREFIXES: [&str; 20] = [
    "SEGUE_",
    "BASH_FUNC_",
    "TMUX",
    "ZELLIJ",
    "VSCODE_",
    "KITTY_",
    "ALACRITTY_",
    "WEZTERM_",
    "GHOSTTY_",
    "KONSOLE_",
    "ITERM_",
    "TERMINATOR_",
    "TILIX_",
    "GNOME_",
    "GIO_LAUNCHED_",
    "XDG_SESSION_",
    "SUDO_",
    "WT_",
    "WSL",
    "LC_",
];

/// An environment that a launch could get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentCandidate {
    pub source: EnvironmentSource,
    pub environment: Environment,
    /// The names that the agent would have, including those that the launch itself adds.
    pub names: Vec<String>,
}

/// The environment that a launch gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentChoice {
    Use {
        source: EnvironmentSource,
        environment: Environment,
    },
    /// No candidate has these variables of the last launch.
    Missing(Vec<String>),
}

/// Chooses the first candidate that has the variables of the last launch. `recorded` are the names
/// of these variables. The environment of a user's command is used even if variables are missing.
pub fn choose(recorded: &[String], candidates: Vec<EnvironmentCandidate>) -> EnvironmentChoice {
    let mut fewest: Option<Vec<String>> = None;
    for EnvironmentCandidate { source, environment, names } in candidates {
        let missing = missing(recorded, &names);
        if source == EnvironmentSource::Given || missing.is_empty() {
            return EnvironmentChoice::Use { source, environment };
        }
        if fewest.as_ref().is_none_or(|known| missing.len() < known.len()) {
            fewest = Some(missing);
        }
    }
    EnvironmentChoice::Missing(fewest.unwrap_or_else(|| missing(recorded, &[])))
}

/// Returns the recorded names that a launch needs and that are not among `names`.
fn missing(recorded: &[String], names: &[String]) -> Vec<String> {
    recorded.iter().filter(|it| is_needed(it) && !names.contains(it)).cloned().collect()
}

/// Returns whether a launch without this variable may behave differently than the last one.
fn is_needed(name: &str) -> bool {
    !SHELL_INTERNAL.contains(&name)
        && !SESSION_BOUND.contains(&name)
        && !SESSION_BOUND_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Removes the variables that are only valid inside the shell that was read.
pub fn without_shell_internals(environment: &mut Environment) {
    environment.retain(|name| !SHELL_INTERNAL.contains(&name));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recorded names, the candidates, and the source that is used or the missing names.
    type ChoiceCase<'a> = (&'a str, &'a [(EnvironmentSource, &'a str)], Result<&'a str, &'a str>);

    fn names(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn candidate(source: EnvironmentSource, text: &str) -> EnvironmentCandidate {
        let names = names(text);
        let variable = |name: &String| (name.clone(), source.word().to_owned());
        EnvironmentCandidate {
            source,
            environment: Environment::new(names.iter().map(variable)),
            names,
        }
    }

    /// Returns the source that is used, or the missing names.
    fn chosen(
        recorded: &str,
        candidates: &[(EnvironmentSource, &str)],
    ) -> Result<&'static str, String> {
        let candidates = candidates.iter().map(|(source, names)| candidate(*source, names));
        match choose(&names(recorded), candidates.collect()) {
            EnvironmentChoice::Use { source, environment } => {
                assert!(environment.iter().all(|(_, value)| value == source.word()));
                Ok(source.word())
            }
            EnvironmentChoice::Missing(names) => Err(names.join(" ")),
        }
    }

    #[test]
    fn first_source_with_all_needed_names_is_used() {
        use EnvironmentSource::{Given, Holder, LoginShell};
        let table: [ChoiceCase<'_>; 12] = [
            ("PATH KEY", &[(Given, "PATH KEY"), (Holder, "PATH KEY")], Ok("given")),
            ("PATH KEY", &[(Given, "PATH")], Ok("given")),
            ("PATH KEY", &[(Holder, "PATH KEY"), (LoginShell, "PATH KEY")], Ok("holder")),
            ("PATH KEY", &[(Holder, "PATH"), (LoginShell, "PATH KEY")], Ok("login_shell")),
            ("PATH KEY", &[(LoginShell, "PATH KEY MORE")], Ok("login_shell")),
            ("PATH KEY", &[(LoginShell, "PATH")], Err("KEY")),
            ("A B C", &[(Holder, "A"), (LoginShell, "A B")], Err("C")),
            ("A B C", &[(Holder, "A B"), (LoginShell, "A")], Err("C")),
            ("PATH KEY", &[], Err("PATH KEY")),
            ("", &[(LoginShell, "")], Ok("login_shell")),
            ("PWD OLDPWD SHLVL _", &[(LoginShell, "")], Ok("login_shell")),
            (
                "TERM DISPLAY SSH_AUTH_SOCK TMUX_PANE SEGUE_LAUNCH XDG_SESSION_ID KEY",
                &[(LoginShell, "")],
                Err("KEY"),
            ),
        ];
        for (recorded, candidates, expected) in table {
            let expected = expected.map_err(str::to_owned);
            assert_eq!(chosen(recorded, candidates), expected, "{recorded}: {candidates:?}");
        }
    }
}
