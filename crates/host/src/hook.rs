//! Records the payloads of vendor hooks: one line each in the launch folder, even if no daemon
//! runs.

use std::fs::OpenOptions;
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use segue_core::model::LaunchId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Paths;
use crate::folders::HOOKS;
use crate::process;

/// At most this many bytes of a payload are read. No useful payload is longer.
const MAX_PAYLOAD_BYTES: u64 = 4 * 1024 * 1024;

/// Longer texts in a payload are cut. A signal needs only the beginning of a text.
const MAX_TEXT_CHARS: usize = 2_000;

/// One line of the hooks file.
#[derive(Serialize, Deserialize)]
struct HookLine {
    /// The ids of the calling process and of its ancestors.
    from: Vec<u32>,
    payload: Value,
}

/// Appends a payload of the vendor to the launch's hooks file. Fails if the payload is not JSON or
/// the launch folder is missing.
pub fn record(paths: &Paths, launch: LaunchId, payload: impl Read) -> io::Result<()> {
    let mut payload: Value = serde_json::from_reader(payload.take(MAX_PAYLOAD_BYTES))?;
    shorten(&mut payload);
    let lineage = process::lineage(std::process::id());
    let from = lineage.members.iter().map(|member| member.process.pid).collect();
    let mut line = serde_json::to_vec(&HookLine { from, payload })?;
    line.push(b'\n');
    let path = paths.launch(launch).join(HOOKS);
    // A single write in append mode, so that lines of concurrent hooks do not mix.
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)?.write_all(&line)
}

/// Returns the payload of a line if the process that reported it is `agent` or its descendant.
pub fn payload_of(line: &str, agent: u32) -> Option<String> {
    let line: HookLine = serde_json::from_str(line).ok()?;
    line.from.contains(&agent).then(|| line.payload.to_string())
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > MAX_TEXT_CHARS => {
            *text = text.chars().take(MAX_TEXT_CHARS).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use segue_core::model::Environment;
    use tempfile::TempDir;
    use uuid::Uuid;

    use super::*;

    fn paths(home: &TempDir) -> Paths {
        let home = home.path().display().to_string();
        let variables = [("HOME".to_owned(), home.clone()), ("SEGUE_HOME".to_owned(), home)];
        Paths::from_environment(&Environment::new(variables)).unwrap()
    }

    #[test]
    fn payload_is_returned_only_for_an_ancestor_of_its_process() {
        let home = TempDir::new().unwrap();
        let (paths, launch) = (paths(&home), LaunchId::new(Uuid::from_u128(7)));
        std::fs::create_dir_all(paths.launch(launch)).unwrap();
        record(&paths, launch, &br#"{"hook_event_name":"Stop"}"#[..]).unwrap();
        let long = format!(r#"{{"prompt":"{}"}}"#, "x".repeat(100_000));
        record(&paths, launch, long.as_bytes()).unwrap();
        let text = std::fs::read_to_string(paths.launch(launch).join(HOOKS)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let stop = payload_of(lines[0], std::process::id()).unwrap();
        assert_eq!(stop, r#"{"hook_event_name":"Stop"}"#);
        assert_eq!(payload_of(lines[0], u32::MAX), None);
        assert!(lines[1].len() < 3_000, "{}", lines[1].len());
    }

    #[test]
    fn record_writes_nothing_without_valid_json_or_a_launch_folder() {
        let home = TempDir::new().unwrap();
        let (paths, launch) = (paths(&home), LaunchId::new(Uuid::from_u128(7)));
        assert!(record(&paths, launch, &b"{}"[..]).is_err());
        std::fs::create_dir_all(paths.launch(launch)).unwrap();
        assert!(record(&paths, launch, &b"not json"[..]).is_err());
        assert!(!paths.launch(launch).join(HOOKS).exists());
        assert_eq!(payload_of("not json", 1), None);
    }
}
