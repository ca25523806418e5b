//! Installs extensions into the user's code editor, by the editor's own command.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use segue_core::model::Environment;
use segue_core::{Error, Result};

use crate::programs;

/// The commands of VS Code and its relatives. The first of them in `PATH` is used.
const PROGRAMS: [&str; 4] = ["code", "code-insiders", "codium", "code-server"];

/// Installs the extension in `file`. `program` is the editor's command: a name in `PATH`, or an
/// absolute path. Returns the path of the command.
pub fn install(file: &Path, program: Option<&str>, environment: &Environment) -> Result<PathBuf> {
    let program = find(program, environment)?;
    let failed = || {
        Error::unavailable(format!("`{}` did not install the extension", program.display()))
            .hint("run `segue editor install vscode --to FILE` and install that file in the editor")
    };
    let mut command = Command::new(&program);
    // Without `--force`, the editor keeps the same version, even if its content differs.
    command.arg("--install-extension").arg(file).arg("--force").stdin(Stdio::null());
    let output = command.output().map_err(|error| failed().caused_by(error))?;
    if output.status.success() {
        return Ok(program);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(failed().caused_by(format!("{}: {}", output.status, text.trim())))
}

fn find(program: Option<&str>, environment: &Environment) -> Result<PathBuf> {
    let names = program.map_or(&PROGRAMS[..], |_| &[]);
    let mut names = program.into_iter().chain(names.iter().copied());
    names.find_map(|name| programs::in_path(name, environment)).ok_or_else(|| missing(program))
}

fn missing(program: Option<&str>) -> Error {
    let error = match program {
        Some(program) => Error::not_found(format!("there is no program `{program}`"))
            .caused_by("it must be a name in PATH, or a path"),
        None => Error::not_found("no editor was found")
            .caused_by(format!("PATH has none of {}", PROGRAMS.join(", "))),
    };
    error
        .hint("run `segue editor install vscode --program PROGRAM` with the command of the editor")
        .hint("run `segue editor install vscode --to FILE` and install that file in the editor")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Writes a program that fails if its last word is missing, and returns a `PATH` that has it.
    fn put(folder: &Path, name: &str, text: &str) -> Environment {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Environment::new([("PATH".to_owned(), folder.to_str().unwrap().to_owned())])
    }

    #[test]
    fn first_editor_in_path_gets_the_file_and_the_flag_that_replaces_an_old_version() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "code-server", "exit 1");
        let words = folder.path().join("words");
        let environment = put(folder.path(), "codium", &format!("echo $* >{}", words.display()));
        let program = install(Path::new("/x.vsix"), None, &environment).unwrap();
        assert_eq!(program, folder.path().join("codium"));
        assert_eq!(fs::read_to_string(words).unwrap(), "--install-extension /x.vsix --force\n");
    }

    #[test]
    fn editor_that_fails_is_reported_with_its_words() {
        let folder = tempfile::tempdir().unwrap();
        let environment = put(folder.path(), "mine", "echo no room >&2; exit 3");
        let error = install(Path::new("/x.vsix"), Some("mine"), &environment).unwrap_err();
        assert!(error.message.ends_with("mine` did not install the extension"), "{error}");
        assert_eq!(error.causes, ["exit status: 3: no room"]);
    }

    #[test]
    fn missing_editor_is_reported_with_what_to_do() {
        let environment = Environment::new([("PATH".to_owned(), "/nonexistent".to_owned())]);
        for (program, message) in
            [(None, "no editor was found"), (Some("mine"), "there is no program `mine`")]
        {
            let error = install(Path::new("/x.vsix"), program, &environment).unwrap_err();
            assert_eq!(error.message, message);
            assert_eq!(error.hints.len(), 2);
        }
    }
}
