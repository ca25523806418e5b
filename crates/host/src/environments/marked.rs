//! The output of a login shell: text of the profile, then the variables between two copies of a
//! random mark.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use memchr::memmem;
use segue_core::model::Environment;

/// The variables of a login shell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellVariables {
    pub(super) environment: Environment,
    /// Names of variables whose values are not UTF-8. They are left out.
    pub(super) left_out: Vec<String>,
}

/// Returns the variables as bytes between two marks. No name and no value has a zero byte.
pub(super) fn write(
    mark: &OsStr,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(mark.as_bytes());
    bytes.push(0);
    for (name, value) in variables {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    }
    bytes.extend_from_slice(mark.as_bytes());
    bytes.push(0);
    bytes
}

/// Reads the variables between the marks. `None` if the second mark is not there yet.
pub(super) fn read(output: &[u8], mark: &str) -> Option<ShellVariables> {
    let mark = [mark.as_bytes(), b"\0"].concat();
    let begin = memmem::find(output, &mark)? + mark.len();
    let rest = output.get(begin..)?;
    // A mark inside a value does not count: the second mark is at the beginning of an entry.
    let end = if rest.starts_with(&mark) {
        0
    } else {
        memmem::find(rest, &[b"\0", mark.as_slice()].concat())? + 1
    };
    let mut found = ShellVariables::default();
    for entry in rest.get(..end)?.split(|byte| *byte == 0) {
        let Some(at) = memchr::memchr(b'=', entry).filter(|at| *at > 0) else { continue };
        let (name, value) = (entry.get(..at), entry.get(at + 1..));
        let Some(name) = name.and_then(|name| str::from_utf8(name).ok()) else { continue };
        match value.map(str::from_utf8) {
            Some(Ok(value)) => found.environment.set(name, value),
            _ => found.left_out.push(name.to_owned()),
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    fn written(pairs: &[(&str, &[u8])]) -> Vec<u8> {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (OsString::from(*name), OsString::from_vec(value.to_vec())));
        write(OsStr::new("mark-7"), pairs)
    }

    fn pairs(found: &ShellVariables) -> Vec<(&str, &str)> {
        found.environment.iter().collect()
    }

    #[test]
    fn variables_are_read_back_whatever_their_values_contain() {
        let bytes = written(&[("A", b"1"), ("B", b"two\nlines = \xc3\xa9"), ("C", b"")]);
        let found = read(&bytes, "mark-7").unwrap();
        assert_eq!(pairs(&found), [("A", "1"), ("B", "two\nlines = é"), ("C", "")]);
        assert_eq!(pairs(&read(&written(&[]), "mark-7").unwrap()), []);
    }

    #[test]
    fn text_of_the_profile_around_the_marks_is_ignored() {
        let noise = b"Welcome!\nmark-7 is not a mark\nX=1\0".to_vec();
        let bytes = [noise, written(&[("A", b"1")]), b"bye\0Y=2\0".to_vec()].concat();
        assert_eq!(pairs(&read(&bytes, "mark-7").unwrap()), [("A", "1")]);
    }

    #[test]
    fn value_that_is_not_utf8_is_left_out_and_named() {
        let found = read(&written(&[("A", b"1"), ("TORN", b"a\xff")]), "mark-7").unwrap();
        assert_eq!(pairs(&found), [("A", "1")]);
        assert_eq!(found.left_out, ["TORN"]);
    }

    #[test]
    fn output_without_the_second_mark_is_incomplete() {
        let bytes = written(&[("A", b"1"), ("B", b"2")]);
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length], "mark-7"), None, "{length}");
        }
        assert_eq!(read(&bytes, "another"), None);
    }
}
