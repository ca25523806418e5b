//! Files with environment variables: `NAME=value` lines, as for systemd and dotenv.
//!
//! - An empty line, and a line that begins with `#` or `;`, has no variable.
//! - `export ` before a name is ignored.
//! - A value ends at the end of its line. White space around it is removed.
//! - In `'single quotes'` everything is meant literally. In `"double quotes"`, `\"`, `\\`, `\$` and
//!   `` \` `` stand for the second character, and `\n` for a newline. Nothing is expanded.

use std::path::Path;

use segue_core::rules::environment::check_variable;
use segue_core::{Error, Result};

use crate::private_file::{self, UnusableFile};

/// The maximum length of a file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Reads the variables of a file. Errors name the file and the line, never a value.
pub(super) fn read(path: &Path) -> Result<Vec<(String, String)>> {
    let cannot = |why: String| {
        Error::config(format!("cannot use `{}` as a source of variables", path.display()))
            .caused_by(why)
    };
    let text =
        private_file::read(path, MAX_FILE_BYTES).map_err(|UnusableFile { why, hint }| {
            cannot(why).hint(hint.unwrap_or_else(|| {
                "correct `files` under `[environment]` in config.toml".to_owned()
            }))
        })?;
    parse(&text).map_err(|(line, why)| cannot(format!("line {line}: {why}")))
}

/// Parses the lines of a file. An error has the number of the line.
fn parse(text: &str) -> std::result::Result<Vec<(String, String)>, (usize, String)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(['#', ';']));
    lines.map(|(number, line)| variable(line).map_err(|why| (number, why))).collect()
}

fn variable(line: &str) -> std::result::Result<(String, String), String> {
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=').ok_or("it has no `=`: write `NAME=value`")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins_with_digit = name.starts_with(|first: char| first.is_ascii_digit());
    if name.is_empty() || begins_with_digit || !name.bytes().all(is_plain) {
        return Err("a name has letters, digits and `_`, and does not begin with a digit".into());
    }
    let value = value.trim();
    let value = match (value.chars().next(), value.chars().next_back()) {
        (Some('\''), Some('\'')) if value.len() > 1 => value[1..value.len() - 1].to_owned(),
        (Some('"'), Some('"')) if value.len() > 1 => unescaped(&value[1..value.len() - 1])?,
        (Some('\'' | '"'), _) => return Err(format!("the quotes of `{name}` are not closed")),
        _ => value.to_owned(),
    };
    check_variable(name, &value).map_err(|error| error.message)?;
    Ok((name.to_owned(), value))
}

/// Replaces the escapes of a text in double quotes.
fn unescaped(text: &str) -> std::result::Result<String, String> {
    let mut value = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        match next {
            '\\' => match rest.next() {
                Some('n') => value.push('\n'),
                Some(same @ ('"' | '\\' | '$' | '`')) => value.push(same),
                Some(other) => value.extend(['\\', other]),
                None => return Err("the last `\"` belongs to a `\\`".to_owned()),
            },
            '"' => return Err("a `\"` inside double quotes needs a `\\` before it".to_owned()),
            other => value.push(other),
        }
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn lines_are_parsed_with_quotes_and_comments() {
        let table = [
            ("A=1", "1"),
            ("export A=1", "1"),
            ("  A = is no name\nA=2", "error 1"),
            ("A= spaces around ", "spaces around"),
            ("A=x # no comment", "x # no comment"),
            ("A=", ""),
            ("A='$HOME \"x\" \\n'", "$HOME \"x\" \\n"),
            ("A=\"a\\nb \\\"c\\\" \\$d \\\\ \\x\"", "a\nb \"c\" $d \\ \\x"),
            ("# comment\n; comment\n\nA=last", "last"),
            ("A=a=b", "a=b"),
            ("A", "error 1"),
            ("A=1\n=2", "error 2"),
            ("1A=2", "error 1"),
            ("A-B=2", "error 1"),
            ("A='open", "error 1"),
            ("A=\"", "error 1"),
            ("A=\"open\\\"", "error 1"),
            ("SEGUE_HOME=/x", "error 1"),
        ];
        for (text, expected) in table {
            let found = match parse(text) {
                Ok(variables) => variables.last().unwrap().1.clone(),
                Err((line, _)) => format!("error {line}"),
            };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn file_that_others_may_read_is_refused_without_its_values() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agents.env");
        fs::write(&file, "KEY=hush-hush\nbroken hush-hush\n").unwrap();
        for (mode, expected) in [(0o644, "(mode 0644)"), (0o620, "(mode 0620)"), (0o600, "line 2")]
        {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let error = read(&file).unwrap_err();
            assert!(error.causes[0].contains(expected), "{mode:o}: {error:?}");
            assert!(!format!("{error:?}").contains("hush-hush"), "{error:?}");
        }
        fs::write(&file, "KEY=hush-hush\n").unwrap();
        assert_eq!(read(&file).unwrap(), [("KEY".to_owned(), "hush-hush".to_owned())]);
        assert!(read(folder.path()).unwrap_err().causes[0].contains("regular file"));
        assert!(read(&folder.path().join("none")).is_err());
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert!(read(&pipe).unwrap_err().causes[0].contains("regular file"));
    }
}
