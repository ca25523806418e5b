//! Runs the user's text editor.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;

use segue_core::model::Environment;
use segue_core::{Error, Result};

/// The environment variables that name the user's editor. The first variable that is set is used.
const NAMES: [&str; 2] = ["VISUAL", "EDITOR"];
/// The editor of a user who has set none.
const DEFAULT: &str = "vi";

/// Opens the user's editor with a text, and waits until the user closes it. Returns the new text. It
/// is in a file of `folder` meanwhile, which only the user can read.
pub fn edit(text: &str, folder: &Path, environment: &Environment) -> Result<String> {
    let chosen = NAMES.into_iter().find_map(|name| environment.get(name)).map(str::trim);
    let editor = chosen.filter(|it| !it.is_empty()).unwrap_or(DEFAULT);
    let path = folder.join(format!("message-{}.md", std::process::id()));
    let edited = write(&path, text).and_then(|()| run(editor, &path));
    let _removed = fs::remove_file(&path);
    edited
}

fn write(path: &Path, text: &str) -> Result<()> {
    let failed =
        |error| Error::unavailable(format!("cannot write `{}`", path.display())).caused_by(error);
    // A file of an earlier process with the same id, which was killed.
    let _removed = fs::remove_file(path);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

/// Runs the editor with a shell, because its name may have arguments.
fn run(editor: &str, path: &Path) -> Result<String> {
    let unusable = || {
        Error::config(format!("the editor `{editor}` cannot be used"))
            .hint("set `EDITOR` to the name of your editor")
    };
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(path);
    let status = command.status().map_err(|error| unusable().caused_by(error))?;
    if !status.success() {
        return Err(unusable().caused_by(format!("it ended with {status}")));
    }
    fs::read_to_string(path).map_err(|error| unusable().caused_by(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Environment::new(variables.iter().map(owned))
    }

    #[test]
    fn text_is_returned_as_the_editor_has_left_it_and_the_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let environment = environment(&[("VISUAL", "printf ' and more' >>"), ("EDITOR", "false")]);
        let text = edit("some text", folder.path(), &environment).unwrap();
        assert_eq!(text, "some text and more");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn editor_that_fails_is_reported_and_the_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let error = edit("x", folder.path(), &environment(&[("EDITOR", "false")])).unwrap_err();
        assert_eq!(error.message, "the editor `false` cannot be used");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
