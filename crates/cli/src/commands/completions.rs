//! `segue completions`

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use segue_core::Result;

use crate::args;
use crate::context::Ending;
use crate::output::Output;

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    segue completions bash > ~/.local/share/bash-completion/completions/segue\n  \
    segue completions fish > ~/.config/fish/completions/segue.fish")]
pub(crate) struct Arguments {
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Ending> {
    output.text(&script(arguments.shell))?;
    Ok(Ending::Done)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::Arguments::command(), "segue", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_completes_the_commands_that_work_and_no_other() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            assert!(script.contains("resume"), "{shell}");
            assert!(script.contains("handoff"), "{shell}");
            assert!(!script.contains("fork"), "{shell}");
        }
    }
}
