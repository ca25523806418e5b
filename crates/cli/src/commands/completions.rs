//! `segue completions`: prints the completion script for a shell.

use clap::Args;
use clap_complete::Shell;
use segue_core::{Error, Result};

use crate::complete;
use crate::context::CommandEnding;
use crate::output::Output;

/// Print the completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Sessions, fleets, agents and vendors are completed, too. The script runs \
    `segue`, which starts no daemon and takes at most 0.3 s; SEGUE_COMPLETE_WAIT=2s gives a slow \
    machine more time.\n\n\
    Examples:\n  \
    segue completions bash > ~/.local/share/bash-completion/completions/segue\n  \
    segue completions zsh > ~/.zfunc/_segue\n  \
    segue completions fish > ~/.config/fish/completions/segue.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArguments, output: &mut Output) -> Result<CommandEnding> {
    let shell = arguments.shell.to_string();
    let unknown = || Error::internal(format!("there is no script for `{shell}`"));
    output.text(&complete::script(&shell).ok_or_else(unknown)?)?;
    Ok(CommandEnding::Done)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, ValueEnum as _};

    use super::*;
    use crate::args;

    #[test]
    fn every_shell_has_a_script_that_calls_this_program() {
        for shell in Shell::value_variants() {
            let script = complete::script(&shell.to_string()).unwrap();
            assert!(script.contains(complete::VARIABLE), "{shell}: {script}");
        }
    }

    #[test]
    fn completion_omits_commands_that_are_not_built_yet() {
        let words = ["segue", ""].map(Into::into).to_vec();
        let mut command = args::SegueArguments::command();
        let found = clap_complete::engine::complete(&mut command, words, 1, None).unwrap();
        let found: Vec<_> = found.iter().map(|it| it.get_value().to_string_lossy()).collect();
        for command in ["resume", "handoff", "ls"] {
            assert!(found.iter().any(|it| it == command), "{command}: {found:?}");
        }
        assert!(!found.iter().any(|it| it == "fork"), "{found:?}");
    }
}
