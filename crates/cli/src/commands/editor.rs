//! `segue editor`: brings Segue into code editors.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use segue_core::{Error, Result};
use segue_server::wiring;
use serde::Serialize;

use crate::context::{CommandEnding, Context};
use crate::progress::ProgressLine;

/// Install the extension of Segue into a code editor
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue editor install vscode")]
pub(crate) struct EditorArguments {
    #[command(subcommand)]
    action: EditorAction,
}

#[derive(Debug, Subcommand)]
enum EditorAction {
    Install(EditorInstallArguments),
}

/// Install the extension: sessions, terminals, conversations and questions in the editor
#[derive(Debug, Args)]
#[command(after_help = "The editor's own command installs the extension: the first of code, \
    code-insiders, codium and code-server in PATH, or --program. An older version is replaced. \
    Reload the windows of the editor that are open.\n\n\
    Examples:\n  segue editor install vscode\n  \
    segue editor install vscode --program code-server\n  \
    segue editor install vscode --to segue.vsix")]
struct EditorInstallArguments {
    /// The editor
    #[arg(value_enum)]
    editor: EditorName,

    /// The command of the editor: a name in PATH, or a path
    #[arg(long, value_name = "PROGRAM")]
    program: Option<String>,

    /// Write the extension into this file, and install nothing
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    to: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
enum EditorName {
    /// VS Code, and editors that are made of it
    Vscode,
}

/// What was installed or written, as `--json` prints it.
#[derive(Debug, Serialize)]
struct EditorReport {
    editor: EditorName,
    version: &'static str,
    /// The editor's command, if it was run.
    program: Option<PathBuf>,
    /// The file that was written, if one was asked for.
    file: Option<PathBuf>,
}

pub(crate) fn run(arguments: EditorArguments, context: &mut Context) -> Result<CommandEnding> {
    let EditorAction::Install(EditorInstallArguments { editor, program, to }) = arguments.action;
    let mut report = EditorReport { editor, version: wiring::VERSION, program: None, file: None };
    match to {
        Some(file) => report.file = Some(write_to(&context.cwd().join(file))?),
        None => report.program = Some(install(program, context)?),
    }
    if context.wants_json() {
        context.output.json(&report)?;
        return Ok(CommandEnding::Done);
    }
    if let Some(program) = &report.program {
        context.output.note(&format!("installed by `{}`", program.display()));
        context.output.hint("run \"Developer: Reload Window\" in windows that are open");
    }
    if let Some(file) = &report.file {
        context.output.text(&format!("{}\n", file.display()))?;
        context.output.hint("run \"Extensions: Install from VSIX...\" in the editor");
    }
    Ok(CommandEnding::Done)
}

fn write_to(file: &Path) -> Result<PathBuf> {
    fs::write(file, wiring::vscode_extension()).map_err(|error| {
        let message = format!("cannot write the extension into `{}`", file.display());
        Error::unavailable(message).caused_by(error)
    })?;
    Ok(file.to_owned())
}

/// Installs the extension from a file that exists for as long as the editor's command runs.
fn install(program: Option<String>, context: &Context) -> Result<PathBuf> {
    let failed = |error| {
        Error::unavailable("cannot write the extension into a temporary file").caused_by(error)
    };
    let file = tempfile::Builder::new().prefix("segue-").suffix(".vsix").tempfile();
    let mut file = file.map_err(failed)?;
    file.write_all(wiring::vscode_extension()).map_err(failed)?;
    let program = program.map(|name| absolute(&name, context.cwd()));
    let mut line = ProgressLine::new(context);
    if let Some(line) = &mut line {
        line.draw("the editor installs the extension");
    }
    wiring::install_extension(&context.local, file.path(), program.as_deref())
}

/// Returns a path as an absolute path, and a name unchanged.
fn absolute(program: &str, cwd: &Path) -> String {
    if program.contains('/') {
        cwd.join(program).to_string_lossy().into_owned()
    } else {
        program.to_owned()
    }
}
