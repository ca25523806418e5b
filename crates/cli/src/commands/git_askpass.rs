//! `segue git-askpass PROMPT`: answers a question of git for a user name or a password. Git runs it
//! as the program of `GIT_ASKPASS`.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use segue_core::api::GitCredentialRequest;
use segue_core::model::SecretText;
use segue_core::rules::askpass::TICKET;
use segue_core::{Error, Result};
use segue_server::client::Client;
use segue_server::wiring::Local;

use crate::output::{Output, OutputFormat};

/// Asks the daemon, and prints its answer. Starts no daemon.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let answered = ask(arguments).and_then(|answer| print(&answer));
    match answered {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            Output::without_colours(OutputFormat::Text).failure(&error);
            ExitCode::FAILURE
        }
    }
}

fn ask(arguments: &[OsString]) -> Result<SecretText> {
    let [prompt] = arguments else {
        return Err(Error::usage("`segue git-askpass` needs one argument: the question of git"));
    };
    let prompt = prompt.to_str().ok_or_else(|| Error::usage("the question is not UTF-8"))?;
    let local = Local::here()?;
    let ticket = local.environment().get(TICKET).map(SecretText::new);
    let request = GitCredentialRequest { prompt: prompt.to_owned(), ticket };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Error::unavailable("cannot start a runtime").caused_by(error))?;
    runtime.block_on(async {
        let client = Client::connect_running(&local).await?.ok_or_else(|| {
            Error::unavailable("the daemon does not run, so git gets no credentials")
                .hint("run `segue ls` in a terminal of your own to start it")
        })?;
        Ok(client.git_credential(&request).await?.answer)
    })
}

fn print(answer: &SecretText) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = writeln!(stdout, "{}", answer.expose()).and_then(|()| stdout.flush());
    written.map_err(|error| Error::internal("cannot write to standard output").caused_by(error))
}
