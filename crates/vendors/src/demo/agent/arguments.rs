//! The command line of the agent.

use segue_core::model::Permission;

use super::super::paths;

pub(super) const USAGE: &str = "usage: demo-agent [--session-id ID | --resume ID] [--own-id] \
     [--print] [--model M] [--permission ask|accept-edits|auto] [--instructions TEXT] \
     [--ask-trust | --ask-trust-first] [--show-nothing] [--ask-with COMMAND] [--] [PROMPT]";

/// The parsed command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    pub(super) identity: Identity,
    pub(super) mode: DemoMode,
    pub(super) model: Option<String>,
    pub(super) permission: Permission,
    pub(super) instructions: Option<String>,
    pub(super) asks_trust: bool,
    pub(super) visibility: Shows,
    /// The shell command that a headless agent runs to ask a person.
    pub(super) ask_command: Option<String>,
    pub(super) prompt: Option<String>,
}

/// The conversation that the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// A new conversation with an id that the agent chooses.
    Own,
    /// A new conversation with this id.
    Preset(String),
    /// The existing conversation with this id.
    Resume(String),
}

/// When the agent draws its screen and publishes its live entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    AtOnce,
    /// The agent hides its live entry until the user trusts the folder.
    OnceTrusted,
    /// The agent draws nothing, publishes nothing and does nothing.
    Never,
}

/// How the agent communicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DemoMode {
    Interactive,
    /// One turn, printed as JSON lines.
    Headless,
}

/// How the agent asks a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AsksBy {
    /// On its terminal.
    Terminal,
    /// By running a command.
    Command,
    /// The agent has no way to ask a person.
    Nothing,
}

impl Invocation {
    /// Returns how the agent asks a person.
    pub(super) fn asks_by(&self) -> AsksBy {
        match (self.mode, &self.ask_command) {
            (DemoMode::Interactive, _) => AsksBy::Terminal,
            (DemoMode::Headless, Some(_)) => AsksBy::Command,
            (DemoMode::Headless, None) => AsksBy::Nothing,
        }
    }
}

/// Parses a command line. The error is a message for the user.
pub(super) fn parse(arguments: Vec<String>) -> Result<Invocation, String> {
    let mut flags = Flags::default();
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            rest.by_ref().try_for_each(|prompt| flags.set_prompt(prompt))?;
        } else if argument.starts_with('-') && argument.len() > 1 {
            flags.read(&argument, &mut rest)?;
        } else {
            flags.set_prompt(argument)?;
        }
    }
    flags.into_invocation()
}

#[derive(Default)]
struct Flags {
    preset: Option<String>,
    resume: Option<String>,
    switches: Vec<Switch>,
    model: Option<String>,
    permission: Option<Permission>,
    instructions: Option<String>,
    ask_command: Option<String>,
    prompt: Option<String>,
}

#[derive(PartialEq, Eq)]
enum Switch {
    OwnId,
    Print,
    AskTrust,
    AskTrustFirst,
    ShowNothing,
}

impl Flags {
    fn read(&mut self, flag: &str, rest: &mut impl Iterator<Item = String>) -> Result<(), String> {
        // A value may be a separate argument, or follow `=`.
        let attached_value = flag.split_once('=').map(|(_, value)| value.to_owned());
        let name = flag.split('=').next().unwrap_or_default();
        let mut value = || {
            attached_value
                .clone()
                .or_else(|| rest.next())
                .ok_or_else(|| format!("`{flag}` needs a value"))
        };
        match name {
            "--session-id" => self.preset = Some(value()?),
            "--resume" => self.resume = Some(value()?),
            "--own-id" => self.switches.push(Switch::OwnId),
            "--print" => self.switches.push(Switch::Print),
            "--ask-trust" => self.switches.push(Switch::AskTrust),
            "--ask-trust-first" => self.switches.push(Switch::AskTrustFirst),
            "--show-nothing" => self.switches.push(Switch::ShowNothing),
            "--model" => self.model = Some(value()?),
            "--permission" => self.permission = Some(parse_permission(&value()?)?),
            "--ask-with" => self.ask_command = Some(value()?),
            "--instructions" => self.instructions = Some(value()?),
            _ => return Err(format!("unknown argument `{}`", flag.escape_debug())),
        }
        Ok(())
    }

    fn set_prompt(&mut self, prompt: String) -> Result<(), String> {
        match self.prompt.replace(prompt) {
            None => Ok(()),
            Some(_) => Err("more than one prompt".to_owned()),
        }
    }

    fn has(&self, switch: &Switch) -> bool {
        self.switches.contains(switch)
    }

    fn into_invocation(self) -> Result<Invocation, String> {
        let mode =
            if self.has(&Switch::Print) { DemoMode::Headless } else { DemoMode::Interactive };
        if mode == DemoMode::Headless && self.prompt.is_none() {
            return Err("`--print` needs a prompt".to_owned());
        }
        Ok(Invocation {
            identity: self.identity()?,
            mode,
            asks_trust: self.has(&Switch::AskTrust) || self.has(&Switch::AskTrustFirst),
            visibility: self.visibility(),
            model: self.model,
            permission: self.permission.unwrap_or(Permission::Ask),
            instructions: self.instructions,
            ask_command: self.ask_command,
            prompt: self.prompt,
        })
    }

    fn visibility(&self) -> Shows {
        match (self.has(&Switch::ShowNothing), self.has(&Switch::AskTrustFirst)) {
            (true, _) => Shows::Never,
            (false, true) => Shows::OnceTrusted,
            (false, false) => Shows::AtOnce,
        }
    }

    fn identity(&self) -> Result<Identity, String> {
        match (&self.preset, &self.resume) {
            (Some(_), Some(_)) => {
                Err("`--session-id` and `--resume` cannot be used together".to_owned())
            }
            (_, Some(id)) => Ok(Identity::Resume(id.clone())),
            (Some(_), None) if self.has(&Switch::OwnId) => Ok(Identity::Own),
            (Some(id), None) if paths::is_id(id) => Ok(Identity::Preset(id.clone())),
            (Some(id), None) => Err(format!("invalid session ID `{}`", id.escape_debug())),
            (None, None) => Ok(Identity::Own),
        }
    }
}

fn parse_permission(word: &str) -> Result<Permission, String> {
    Permission::from_word(word)
        .ok_or_else(|| format!("unknown permission `{}`", word.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &[&str]) -> Result<Invocation, String> {
        parse(line.iter().map(|argument| (*argument).to_owned()).collect())
    }

    #[test]
    fn empty_command_line_starts_an_interactive_agent_with_its_own_id() {
        let found = read(&[]).unwrap();
        assert_eq!(found.identity, Identity::Own);
        assert_eq!(found.mode, DemoMode::Interactive);
        assert_eq!(found.permission, Permission::Ask);
        assert_eq!(found.prompt, None);
    }

    #[test]
    fn prompt_after_two_dashes_may_look_like_a_flag() {
        let found = read(&["--print", "--", "--resume"]).unwrap();
        assert_eq!(found.prompt.as_deref(), Some("--resume"));
        assert_eq!(found.identity, Identity::Own);
        assert_eq!(read(&["--", "--"]).unwrap().prompt.as_deref(), Some("--"));
        assert_eq!(read(&["-"]).unwrap().prompt.as_deref(), Some("-"));
    }

    #[test]
    fn own_id_overrides_a_preset_id_but_not_a_resume() {
        let preset = read(&["--session-id", "a", "--own-id"]).unwrap();
        assert_eq!(preset.identity, Identity::Own);
        let resume = read(&["--resume", "a", "--own-id"]).unwrap();
        assert_eq!(resume.identity, Identity::Resume("a".into()));
    }

    #[test]
    fn invalid_command_line_is_refused_with_a_message() {
        let table: [(&[&str], &str); 8] = [
            (&["--verbose"], "unknown argument `--verbose`"),
            (&["--model"], "`--model` needs a value"),
            (&["a", "b"], "more than one prompt"),
            (&["--", "a", "b"], "more than one prompt"),
            (&["--print"], "`--print` needs a prompt"),
            (&["--permission", "all"], "unknown permission `all`"),
            (&["--session-id", "../x"], "invalid session ID `../x`"),
            (
                &["--session-id", "a", "--resume", "a"],
                "`--session-id` and `--resume` cannot be used together",
            ),
        ];
        for (line, message) in table {
            assert_eq!(read(line).unwrap_err(), message);
        }
    }
}
