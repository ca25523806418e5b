//! `segue man`: prints the manual page, or writes the pages of all commands.

mod markdown;

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _, ValueEnum};
use segue_core::{Error, Result};

use crate::args;
use crate::context::CommandEnding;
use crate::output::Output;

/// Print the manual page, or write the pages of all commands into a folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue man | man -l -\n  segue man ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// The folder for the pages of all commands
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,

    /// Print all commands as one page of Markdown, for the documentation
    #[arg(long, hide = true, conflicts_with = "folder")]
    pub(crate) markdown: bool,

    /// Print what the documentation has about the HTTP API
    #[arg(long, hide = true, value_name = "PART", conflicts_with_all = ["folder", "markdown"])]
    pub(crate) http: Option<HttpPart>,
}

/// A part of the documentation of the HTTP API.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum HttpPart {
    /// The OpenAPI document.
    Openapi,
    /// The rows of the table of routes.
    Routes,
}

pub(crate) fn run(arguments: &ManArguments, output: &mut Output) -> Result<CommandEnding> {
    match (&arguments.folder, arguments.http) {
        (_, Some(HttpPart::Openapi)) => output.text(&segue_server::openapi_document())?,
        (_, Some(HttpPart::Routes)) => {
            output.text(&(segue_server::route_rows().join("\n") + "\n"))?;
        }
        _ if arguments.markdown => output.text(&markdown::page(args::SegueArguments::command()))?,
        (Some(folder), None) => write_pages(folder)?,
        (None, None) => output.text(&page()?)?,
    }
    Ok(CommandEnding::Done)
}

fn page() -> Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(args::SegueArguments::command())
        .render(&mut page)
        .map_err(|error| Error::internal("cannot make the manual page").caused_by(error))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write_pages(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(args::SegueArguments::command(), folder))
        .map_err(|error| {
            Error::internal(format!("cannot write manual pages into `{}`", folder.display()))
                .caused_by(error)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_page_omits_commands_that_are_not_built_yet() {
        let page = page().unwrap();
        assert!(page.contains("segue\\-resume(1)"), "{page}");
        assert!(page.contains("segue\\-handoff(1)"), "{page}");
        assert!(!page.contains("segue\\-fork(1)"), "{page}");
    }
}
