//! `segue init`: writes a commented project file and its prompts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use clap::Args;
use segue_core::model::PROJECT_FILE;
use segue_core::{Error, Result};
use serde::Serialize;

use crate::context::{CommandEnding, Context};

/// The files that `segue init` writes, in this order. The project file is last, so that all files
/// that it names exist before it does.
const FILES: [(&str, &str); 4] = [
    ("prompts/coder.md", include_str!("init/coder.md")),
    ("prompts/reviewer.md", include_str!("init/reviewer.md")),
    ("prompts/start.md", include_str!("init/start.md")),
    (PROJECT_FILE, include_str!("init/project.toml")),
];

/// Write a commented segue.toml and prompts into this folder
#[derive(Debug, Args)]
#[command(after_help = "It never overwrites a file.\n\n\
    Example:\n  segue init && segue up")]
pub(crate) struct InitArguments {}

/// The files that were written, and the files that existed already.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct InitReport {
    written: Vec<&'static str>,
    left_alone: Vec<&'static str>,
}

pub(crate) fn run(context: &mut Context) -> Result<CommandEnding> {
    let written = write_into(context.cwd())?;
    if context.wants_json() {
        context.output.json(&written)?;
        return Ok(CommandEnding::Done);
    }
    let lines = written.written.iter().map(|file| format!("wrote {file}\n"));
    let kept = written.left_alone.iter().map(|file| format!("left {file} alone\n"));
    context.output.text(&lines.chain(kept).collect::<String>())?;
    context.output.hint("run `segue up` to start the agents of segue.toml");
    Ok(CommandEnding::Done)
}

fn write_into(folder: &Path) -> Result<InitReport> {
    if folder.join(PROJECT_FILE).exists() {
        return Ok(InitReport { written: Vec::new(), left_alone: vec![PROJECT_FILE] });
    }
    let mut report = InitReport::default();
    for (file, text) in FILES {
        let is_new = write_new(&folder.join(file), text)
            .map_err(|error| Error::internal(format!("cannot write `{file}`")).caused_by(error))?;
        if is_new { report.written.push(file) } else { report.left_alone.push(file) }
    }
    Ok(report)
}

/// Writes a new file. Returns false if the file exists already.
fn write_new(path: &Path, text: &str) -> io::Result<bool> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        other => other?,
    };
    let result = fill(&mut file, path, text);
    if result.is_err() {
        // The next `segue init` would not overwrite an incomplete file.
        fs::remove_file(path)?;
    }
    result.map(|()| true)
}

fn fill(file: &mut File, path: &Path, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_the_project_file_names_is_written() {
        let (_, project) = FILES[3];
        for (file, _) in &FILES[..3] {
            assert!(project.contains(file), "{file}");
        }
        assert_eq!(project.matches("\"prompts/").count(), 4);
    }
}
