//! Opens a link in the user's browser.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use segue_core::model::{Environment, SecretText};
use segue_core::{Error, Result};

/// The variables that name a display on which a browser can open a window.
const DISPLAYS: [&str; 2] = ["WAYLAND_DISPLAY", "DISPLAY"];

/// Returns whether the user has a display.
pub fn has_display(environment: &Environment) -> bool {
    DISPLAYS.iter().any(|name| environment.get(name).is_some_and(|value| !value.is_empty()))
}

/// Opens a link in the user's browser. `file` is written for that, and only the user may read it:
/// every user of the machine can read the arguments of a program, and the link is a secret.
pub fn open(link: &SecretText, file: &Path) -> Result<()> {
    write(file, &page(link)).and_then(|()| show(file)).map_err(|error| {
        Error::unavailable("the browser cannot be opened")
            .caused_by(error)
            .hint("open the printed link yourself")
    })
}

fn show(file: &Path) -> io::Result<()> {
    let mut command = Command::new("xdg-open");
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}

/// Replaces a file by a new one, which only the user may read.
fn write(file: &Path, content: &str) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    created.write_all(content.as_bytes())
}

/// Returns a page that leads to the link. A link of Segue needs no escaping.
fn page(link: &SecretText) -> String {
    let link = link.expose();
    format!(
        "<!doctype html><meta charset=utf-8><title>Segue</title>\
         <meta http-equiv=refresh content=\"0;url={link}\"><a href=\"{link}\">Open Segue</a>\n"
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn page_with_the_link_is_readable_by_its_owner_only_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("open.html");
        for code in ["one", "two"] {
            let link = SecretText::new(format!("http://127.0.0.1:4747/login#{code}"));
            write(&file, &page(&link)).unwrap();
            assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
            assert!(fs::read_to_string(&file).unwrap().contains(link.expose()));
        }
        assert!(!fs::read_to_string(&file).unwrap().contains("one"));
    }
}
