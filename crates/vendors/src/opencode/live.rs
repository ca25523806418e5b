//! Finds out from command lines which process has which conversation open.

use std::path::Path;

use segue_core::model::VendorSessionId;
use segue_core::ports::{Files, Live, Place};

use super::paths;

const LONGEST_LINE: usize = 16 * 1024;

/// Lists the processes that have a conversation open. `OpenCode` has neither locks nor a list of
/// its processes. So these are the processes that have the database open and whose arguments name a
/// conversation.
pub(super) fn live(files: &dyn Files, place: &Place) -> Vec<Live> {
    let database = paths::database(&place.config_dir);
    let mut opened = files.opened_in(&place.config_dir, None);
    opened.retain(|(_, path)| *path == database);
    opened.dedup_by_key(|(pid, _)| *pid);
    let told = |pid: u32| {
        let line = files.head(Path::new(&format!("/proc/{pid}/cmdline")), LONGEST_LINE).ok()?;
        conversation(&line).map(|id| Live { pid, started: None, id })
    };
    opened.into_iter().filter_map(|(pid, _)| told(pid)).collect()
}

fn conversation(line: &[u8]) -> Option<VendorSessionId> {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split('\0').take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some(("-s" | "--session", value)) => Some(value),
            None if matches!(word, "-s" | "--session") => words.next(),
            _ => None,
        };
        if let Some(id) = value.filter(|value| paths::is_id(value)) {
            return Some(VendorSessionId::new(id));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversation_of_a_process_is_the_one_in_its_arguments() {
        let of = |line: &str| conversation(line.replace(' ', "\0").as_bytes());
        let id = || Some(VendorSessionId::new("ses_1a"));
        assert_eq!(of("opencode /code -s ses_1a --auto"), id());
        assert_eq!(of("opencode run --session=ses_1a -- x"), id());
        assert_eq!(of("opencode run -- -s ses_1a"), None);
        assert_eq!(of("opencode --session other"), None);
        assert_eq!(of("opencode"), None);
    }
}
