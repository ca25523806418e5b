//! Finds the processes that have a conversation open, by their command lines.

use std::path::Path;

use segue_core::model::VendorSessionId;
use segue_core::ports::{Files, Live, Place};

use super::paths;

const COMMAND_LINE_LIMIT_BYTES: usize = 16 * 1024;

/// Lists the processes that have the database open and whose arguments name a conversation.
/// `OpenCode` has neither locks nor a registry of its processes.
pub(super) fn live(files: &dyn Files, place: &Place) -> Vec<Live> {
    let database = paths::database(&place.config_dir);
    let mut opened = files.opened_in(&place.config_dir, None);
    opened.retain(|(_, path)| *path == database);
    opened.dedup_by_key(|(pid, _)| *pid);
    let live_process = |pid: u32| {
        let line = files
            .head(Path::new(&format!("/proc/{pid}/cmdline")), COMMAND_LINE_LIMIT_BYTES)
            .ok()?;
        conversation(&line).map(|id| Live { pid, started: None, id })
    };
    opened.into_iter().filter_map(|(pid, _)| live_process(pid)).collect()
}

fn conversation(line: &[u8]) -> Option<VendorSessionId> {
    let line = String::from_utf8_lossy(line);
    let mut arguments = line.split('\0').take_while(|argument| *argument != "--");
    while let Some(argument) = arguments.next() {
        let value = match argument.split_once('=') {
            Some(("-s" | "--session", value)) => Some(value),
            None if matches!(argument, "-s" | "--session") => arguments.next(),
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
        let conversation_of = |line: &str| conversation(line.replace(' ', "\0").as_bytes());
        let id = || Some(VendorSessionId::new("ses_1a"));
        assert_eq!(conversation_of("opencode /code -s ses_1a --auto"), id());
        assert_eq!(conversation_of("opencode run --session=ses_1a -- x"), id());
        assert_eq!(conversation_of("opencode run -- -s ses_1a"), None);
        assert_eq!(conversation_of("opencode --session other"), None);
        assert_eq!(conversation_of("opencode"), None);
    }
}
