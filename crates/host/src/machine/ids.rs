//! The ids of this machine: the file `machine-id` in the state folder.
//!
//! The first id is random and is generated once. `/etc/machine-id` is not used, because it may be
//! missing, and copies of one disk image share it. If a user adds the id of another machine as a
//! further line, this machine takes over the launches of that machine.

use std::fs;
use std::io;
use std::path::Path;

use segue_core::model::{MachineId, MachineIds};
use segue_core::{Error, Result};
use uuid::Uuid;

use crate::failure::{cannot, quoted};
use crate::{atomic, points};

/// Reads the ids. Creates the file with a new id if it does not exist.
pub(super) fn read_or_create(file: &Path) -> Result<MachineIds> {
    let read = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(file),
        read => read,
    };
    parse(&read.map_err(|error| cannot("read", file, &error))?, file)
}

/// Creates the file, unless another process has just created it. Returns its content.
fn create(file: &Path) -> io::Result<String> {
    let content = format!("{}\n", Uuid::new_v4());
    atomic::create(file, content.as_bytes(), points!("machine.create"))?;
    fs::read_to_string(file)
}

fn parse(content: &str, file: &Path) -> Result<MachineIds> {
    let lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
    let ids = lines.map(|line| line.parse::<MachineId>().map_err(|_| unreadable(line, file)));
    let mut ids = ids.collect::<Result<Vec<MachineId>>>()?.into_iter();
    let own = ids.next().ok_or_else(|| unreadable("", file))?;
    Ok(MachineIds { own, replaced: ids.collect(), file: file.to_owned() })
}

fn unreadable(line: &str, file: &Path) -> Error {
    let shown = line.escape_debug();
    Error::config(format!("`{}` has the line `{shown}`, which is not a UUID", file.display()))
        .caused_by("it contains the ids of this machine, one on each line, its own first")
        .hint(format!("correct or delete that line of {}", quoted(file)))
        .hint(
            "if no line is left, delete the file: Segue generates a new id, and prints the line to \
             add when it finds a launch of the old id",
        )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use segue_core::Kind;

    use super::*;

    #[test]
    fn id_is_generated_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("machine-id");
        let first = read_or_create(&file).unwrap();
        assert_eq!(read_or_create(&file).unwrap(), first);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let other = read_or_create(&folder.path().join("other")).unwrap();
        assert_ne!(other.own, first.own);
    }

    #[test]
    fn later_lines_are_machines_that_this_one_replaces() {
        let ids: Vec<MachineId> =
            (1..=3).map(|number| MachineId::new(Uuid::from_u128(number))).collect();
        let content = format!("{}\n\n {}\n{}", ids[0], ids[1], ids[2]);
        let found = parse(&content, Path::new("/s/machine-id")).unwrap();
        assert_eq!((found.own, found.replaced.as_slice()), (ids[0], &ids[1..]));
        assert_eq!(found.all(), ids);
    }

    #[test]
    fn line_that_is_no_id_is_quoted_in_the_error() {
        for (content, line) in [("", "``"), ("\n", "``"), ("this one\n", "`this one`")] {
            let error = parse(content, Path::new("/s/machine-id")).unwrap_err();
            assert_eq!(error.kind, Kind::Config);
            assert!(error.message.contains(line), "{error}");
            assert!(error.hints[0].contains("/s/machine-id"), "{error:?}");
        }
    }
}
