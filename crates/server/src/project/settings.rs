//! The user's settings in `config.toml`.

use std::fs;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::SignedDuration;
use segue_core::model::{UsdAmount, VendorId};
use segue_core::ports::{EnvironmentSettings, Vendors};
use segue_core::rules::repetition::RepetitionLimits;
use segue_core::rules::schedule::TaskLimits;
use segue_core::rules::task_tree::TreeLimits;
use segue_core::{Error, Kind, Result};
use serde::Deserialize;

use super::credentials::CredentialSettings;
use super::dispatch::DispatchTable;
use super::housekeeping::{DiskTable, SweepTable};
use super::sources::SourceTable;

/// The default value of `silence`: a headless turn that prints nothing for this time is ended. Some
/// agents wait forever for a connection.
const DEFAULT_SILENCE: Duration = Duration::from_secs(30 * 60);

/// The default size limit of the archive.
const DEFAULT_ARCHIVE_LIMIT_BYTES: u64 = 10_000_000_000;

/// The default timeout of the login shell.
const DEFAULT_SHELL_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// The default vendor.
    vendor: Option<String>,
    /// How long a headless turn may print nothing before it is ended.
    silence: Option<PositiveDuration>,
    /// The size limit of the archive.
    archive_limit: Option<ByteCount>,
    #[serde(default)]
    attention: Attention,
    #[serde(default)]
    environment: EnvironmentTable,
    #[serde(default)]
    tasks: TasksTable,
    #[serde(default)]
    loops: LoopsTable,
    /// Credentials for git, by host.
    #[serde(default)]
    credentials: CredentialSettings,
    /// The forges from which deliveries and issues come.
    #[serde(default)]
    sources: Vec<SourceTable>,
    /// Which events of these forges become tasks.
    #[serde(default)]
    dispatch: Vec<DispatchTable>,
    /// How much disk space Segue may use.
    #[serde(default)]
    pub(super) disk: DiskTable,
    /// After which time without use things are removed.
    #[serde(default)]
    pub(super) sweep: SweepTable,
}

/// How many tasks may run at the same time.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TasksTable {
    /// For one agent.
    per_agent: Option<NonZeroUsize>,
    /// For all agents that use the same account.
    per_account: Option<NonZeroUsize>,
    /// On this machine.
    total: Option<NonZeroUsize>,
    /// How many agents may be above an agent.
    depth: Option<u32>,
    /// How many children of an agent may be queued or run.
    children: Option<u32>,
    /// How many children an agent may start within a minute.
    starts_per_minute: Option<u32>,
    /// How many tokens an agent and its children may use.
    tree_tokens: Option<u64>,
    /// How many US dollars an agent and its children may cost.
    tree_cost: Option<f64>,
}

/// How often something is repeated before a person is needed. 0 switches it off.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LoopsTable {
    /// The same tool call with the same result, or a short cycle of calls, within a turn.
    tool_calls: Option<RepetitionLimit>,
    /// Messages that go back and forth between two agents.
    messages: Option<RepetitionLimit>,
}

/// A number of repetitions. `None` if it was written as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
struct RepetitionLimit(Option<usize>);

impl TryFrom<u32> for RepetitionLimit {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, Self::Error> {
        match number {
            0 => Ok(Self(None)),
            3..=1000 => Ok(Self(Some(number as usize))),
            _ => Err(format!("it must be 0 or between 3 and 1000, got {number}")),
        }
    }
}

/// The sources of the environment for a restart, if no holder has the environment in memory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EnvironmentTable {
    /// Whether the environment of the login shell is used.
    shell: bool,
    /// Files with `NAME=value` lines.
    files: Vec<VariableFile>,
    /// The timeout of the login shell.
    timeout: Option<PositiveDuration>,
}

impl Default for EnvironmentTable {
    fn default() -> Self {
        Self { shell: true, files: Vec::new(), timeout: None }
    }
}

/// How the user is notified if a session needs a person.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Attention {
    /// A program and its arguments. Details are passed in environment variables.
    pub(crate) command: Vec<String>,
    /// Whether a notification is shown on the desktop.
    pub(crate) desktop: bool,
}

impl Default for Attention {
    fn default() -> Self {
        Self { command: Vec::new(), desktop: true }
    }
}

/// Returns how the user is notified. Returns the default if the file cannot be read.
pub(crate) fn attention(config_file: &Path) -> Attention {
    // `segue doctor`, and a start that needs the default vendor, report a file that cannot be read.
    read(config_file).map(|settings| settings.attention).unwrap_or_default()
}

/// Returns the sources of the environment for a restart, if no holder has the environment in
/// memory.
pub(crate) fn environment(config_file: &Path) -> EnvironmentSettings {
    // A file that cannot be read is reported elsewhere, see `attention`.
    let EnvironmentTable { shell, files, timeout } =
        read(config_file).map(|settings| settings.environment).unwrap_or_default();
    EnvironmentSettings {
        shell,
        files: files.into_iter().map(|VariableFile(path)| path).collect(),
        timeout: timeout.map_or(DEFAULT_SHELL_TIMEOUT, |PositiveDuration(length)| length),
    }
}

/// Returns how many tasks may run at the same time.
pub(crate) fn task_limits(config_file: &Path) -> TaskLimits {
    // A file that cannot be read is reported elsewhere, see `attention`.
    let TasksTable { per_agent, per_account, total, .. } =
        read(config_file).map(|settings| settings.tasks).unwrap_or_default();
    let default = TaskLimits::default();
    let limit = |limit: Option<NonZeroUsize>, default| limit.map_or(default, NonZeroUsize::get);
    TaskLimits {
        per_agent: limit(per_agent, default.per_agent),
        per_account: limit(per_account, default.per_account),
        total: limit(total, default.total),
    }
}

/// Returns the limits of what agents start.
pub(crate) fn tree_limits(config_file: &Path) -> TreeLimits {
    // A file that cannot be read is reported elsewhere, see `attention`.
    let table = read(config_file).map(|settings| settings.tasks).unwrap_or_default();
    let default = TreeLimits::default();
    TreeLimits {
        depth: table.depth.unwrap_or(default.depth),
        children: table.children.unwrap_or(default.children),
        starts_per_minute: table.starts_per_minute.unwrap_or(default.starts_per_minute),
        tokens: table.tree_tokens,
        cost: table.tree_cost.and_then(UsdAmount::from_dollars),
    }
}

/// Returns how often something is repeated before a person is needed.
pub(crate) fn repetition_limits(config_file: &Path) -> RepetitionLimits {
    // A file that cannot be read is reported elsewhere, see `attention`.
    let table = read(config_file).map(|settings| settings.loops).unwrap_or_default();
    let default = RepetitionLimits::default();
    let limit = |written: Option<RepetitionLimit>, default| written.map_or(default, |it| it.0);
    RepetitionLimits {
        tool_calls: limit(table.tool_calls, default.tool_calls),
        messages: limit(table.messages, default.messages),
    }
}

/// Returns the credentials for git. Fails if the file cannot be read.
pub(super) fn credentials(config_file: &Path) -> Result<CredentialSettings> {
    read(config_file).map(|settings| settings.credentials)
}

/// Returns the sources and the dispatch rules. Fails if the file cannot be read.
pub(super) fn dispatch(config_file: &Path) -> Result<(Vec<SourceTable>, Vec<DispatchTable>)> {
    read(config_file).map(|settings| (settings.sources, settings.dispatch))
}

/// Returns an error if the settings cannot be read.
pub(crate) fn check(config_file: &Path) -> Result<()> {
    read(config_file).map(drop)
}

/// Returns an error for each name in the settings that does not exist: a vendor, or the
/// notification command.
pub(crate) fn check_names(
    config_file: &Path,
    vendors: &dyn Vendors,
    is_program: impl Fn(&str) -> bool,
) -> Vec<Error> {
    let Ok(Settings { vendor, attention, .. }) = read(config_file) else { return Vec::new() };
    let vendor = vendor.map(VendorId::new);
    let unknown = vendor.and_then(|vendor| known_vendor(&vendor, config_file, vendors).err());
    let missing = attention.command.into_iter().next().filter(|program| !is_program(program));
    let missing = missing.map(|program| {
        let place = config_file.display();
        Error::config(format!("`command` under `[attention]` in `{place}` cannot be run"))
            .caused_by(format!("there is no program `{program}`"))
            .hint("use the full path of a program, such as `command = [\"/home/me/bin/tell-me\"]`")
    });
    unknown.into_iter().chain(missing).collect()
}

/// Returns the vendor of the settings, or an error if it does not exist.
fn known_vendor(vendor: &VendorId, config_file: &Path, vendors: &dyn Vendors) -> Result<VendorId> {
    let unknown = |error: Error| {
        let cause = format!("it is the value of `vendor` in `{}`", config_file.display());
        Error { kind: Kind::Config, ..error }.caused_by(cause)
    };
    vendors.get(vendor).map(|found| found.id()).map_err(unknown)
}

/// Returns the user's default vendor.
pub(crate) fn default_vendor(
    config_file: &Path,
    vendors: &dyn Vendors,
) -> Result<Option<VendorId>> {
    let vendor = read(config_file)?.vendor.map(VendorId::new);
    vendor.map(|vendor| known_vendor(&vendor, config_file, vendors)).transpose()
}

/// Returns how long a headless turn may print nothing before it is ended.
pub(crate) fn silence_limit(config_file: &Path) -> Duration {
    // A file that cannot be read is reported elsewhere, see `attention`.
    let silence = read(config_file).ok().and_then(|settings| settings.silence);
    silence.map_or(DEFAULT_SILENCE, |PositiveDuration(length)| length)
}

/// Returns the size limit of the archive in bytes.
pub(crate) fn archive_limit(config_file: &Path) -> u64 {
    // A file that cannot be read is reported elsewhere, see `attention`.
    let limit = read(config_file).ok().and_then(|settings| settings.archive_limit);
    limit.map_or(DEFAULT_ARCHIVE_LIMIT_BYTES, |ByteCount(bytes)| bytes)
}

/// The path of a file: absolute, or below the home folder (`~/`).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct VariableFile(PathBuf);

impl TryFrom<String> for VariableFile {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.starts_with('/') || text.starts_with("~/") {
            return Ok(Self(PathBuf::from(text)));
        }
        Err(format!("`{text}` must be an absolute path, or begin with `~/`"))
    }
}

/// A positive duration such as `30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct PositiveDuration(pub(super) Duration);

impl TryFrom<String> for PositiveDuration {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let length: SignedDuration = text
            .parse()
            .map_err(|_| format!("`{text}` is not a duration such as `30m` or `90s`"))?;
        match Duration::try_from(length) {
            Ok(length) if !length.is_zero() => Ok(Self(length)),
            _ => Err(format!("it must be longer than 0s, got `{text}`")),
        }
    }
}

/// A number of bytes with an optional unit, such as `10 GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ByteCount(pub(super) u64);

impl TryFrom<String> for ByteCount {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let wrong = || format!("`{text}` is not a size such as `10 GB` or `500 MB`");
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
        let factor: u64 = match text[digits.len()..].trim().to_ascii_uppercase().as_str() {
            "" | "B" => 1,
            "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            _ => return Err(wrong()),
        };
        let number: u64 = digits.trim().parse().map_err(|_| wrong())?;
        number.checked_mul(factor).map(Self).ok_or_else(wrong)
    }
}

/// Reads the settings. A missing file has the default values.
pub(super) fn read(config_file: &Path) -> Result<Settings> {
    let text = match fs::read_to_string(config_file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Settings::default()),
        Err(error) => return Err(broken(config_file).caused_by(error)),
    };
    toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let after = text.get(before.rfind('\n').map_or(0, |at| at + 1)..).unwrap_or_default();
        let message = match key(after) {
            Some(key) if !error.message().contains(key) => format!("`{key}`: {}", error.message()),
            _ => error.message().to_owned(),
        };
        broken(config_file).caused_by(format!("line {line}: {message}"))
    })
}

/// Returns the key of the first line of a text.
fn key(text: &str) -> Option<&str> {
    let (key, _) = text.lines().next()?.split_once('=')?;
    Some(key.trim()).filter(|key| !key.is_empty())
}

fn broken(config_file: &Path) -> Error {
    Error::config(format!("cannot read `{}`", config_file.display()))
        .hint(
            "its keys are `vendor`, `silence`, `archive_limit`, and those under `[attention]`, \
             `[environment]`, `[tasks]`, `[loops]`, `[disk]`, `[sweep]`, `[credentials.\"HOST\"]`, \
             `[[sources]]` and `[[dispatch]]`",
        )
        .hint("keys under `[attention]`: `command = [\"…\"]`, `desktop = true`")
        .hint("keys under `[environment]`: `shell = true`, `files = [\"…\"]`, `timeout = \"10s\"`")
        .hint(
            "keys under `[tasks]`: `per_agent = 1`, `per_account = 4`, `total = 8`, `depth = 3`, \
             `children = 8`, `starts_per_minute = 10`, `tree_tokens = 5000000`, `tree_cost = 10.0`",
        )
        .hint("keys under `[loops]`: `tool_calls = 10`, `messages = 12`")
        .hint("keys under `[disk]`: `budget = \"50 GB\"`, `warn = 0.8`")
        .hint(
            "keys under `[sweep]`: `every = \"24h\"`, and the ages `closed`, `orphans`, \
             `launches`, `clones`, `archives` and `deliveries`, such as `orphans = \"14d\"`",
        )
        .hint(
            "keys under `[credentials.\"HOST\"]`: `username = \"…\"`, and one of \
             `command = [\"…\"]`, `env = \"…\"` and `file = \"…\"`",
        )
        .hint("docs/configuration.md lists the keys under `[[sources]]` and `[[dispatch]]`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_limit_parses_sizes_and_falls_back_to_the_default_for_an_invalid_size() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        assert_eq!(archive_limit(&file), 10_000_000_000);
        let table = [
            ("10 GB", 10_000_000_000),
            ("500MB", 500_000_000),
            ("1 kb", 1000),
            ("0", 0),
            ("123 B", 123),
            ("2 TB", 2_000_000_000_000),
        ];
        for (text, bytes) in table {
            fs::write(&file, format!("archive_limit = \"{text}\"\n")).unwrap();
            assert_eq!(archive_limit(&file), bytes, "{text}");
        }
        for text in ["", "GB", "-1 GB", "1.5 GB", "1 XB", "99999999999999999999", "9999999999 TB"] {
            fs::write(&file, format!("archive_limit = \"{text}\"\n")).unwrap();
            let error = check(&file).unwrap_err();
            assert!(error.to_string().contains("cannot read"), "{text}: {error}");
            assert_eq!(archive_limit(&file), DEFAULT_ARCHIVE_LIMIT_BYTES);
        }
    }

    #[test]
    fn environment_table_has_defaults_and_rejects_unknown_keys() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let default =
            EnvironmentSettings { shell: true, files: Vec::new(), timeout: DEFAULT_SHELL_TIMEOUT };
        assert_eq!(environment(&file), default);
        let text =
            "[environment]\nshell = false\nfiles = [\"~/a.env\", \"/b.env\"]\ntimeout = \"3s\"\n";
        fs::write(&file, text).unwrap();
        let files = vec![PathBuf::from("~/a.env"), PathBuf::from("/b.env")];
        let timeout = Duration::from_secs(3);
        assert_eq!(environment(&file), EnvironmentSettings { shell: false, files, timeout });
        let table = [
            ("shel = false", "unknown field `shel`"),
            ("shell = \"zsh\"", "expected a boolean"),
            ("files = [\"a.env\"]", "`a.env` must be an absolute path"),
            ("timeout = \"0s\"", "longer than 0s"),
        ];
        for (line, expected) in table {
            fs::write(&file, format!("[environment]\n{line}\n")).unwrap();
            let error = check(&file).unwrap_err();
            assert!(error.causes[0].contains(expected), "{line}: {error}");
            assert_eq!(environment(&file), default, "{line}");
        }
    }

    #[test]
    fn task_limits_have_defaults_and_must_be_positive() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        assert_eq!(task_limits(&file), TaskLimits::default());
        fs::write(&file, "[tasks]\nper_agent = 2\ntotal = 20\n").unwrap();
        let wanted = TaskLimits { per_agent: 2, total: 20, ..TaskLimits::default() };
        assert_eq!(task_limits(&file), wanted);
        assert_eq!(tree_limits(&file), TreeLimits::default());
        fs::write(&file, "[tasks]\ndepth = 1\ntree_tokens = 7\ntree_cost = 2.5\n").unwrap();
        let cost = UsdAmount::from_dollars(2.5);
        let wanted = TreeLimits { depth: 1, tokens: Some(7), cost, ..TreeLimits::default() };
        assert_eq!(tree_limits(&file), wanted);
        for line in ["per_agent = 0", "total = -1", "per_repo = 1"] {
            fs::write(&file, format!("[tasks]\n{line}\n")).unwrap();
            assert!(check(&file).is_err(), "{line}");
            assert_eq!(task_limits(&file), TaskLimits::default(), "{line}");
        }
    }

    #[test]
    fn settings_parse_silence_and_attention_and_errors_name_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        assert_eq!(silence_limit(&file), DEFAULT_SILENCE);
        fs::write(&file, "silence = \"90s\"\n").unwrap();
        assert_eq!(silence_limit(&file), Duration::from_secs(90));
        fs::write(&file, "silence = \"for ever\"\n").unwrap();
        assert_eq!(silence_limit(&file), DEFAULT_SILENCE);
        assert!(attention(&file).desktop, "notifications are on if the file cannot be read");
        fs::write(&file, "[attention]\ncommand = [\"tell\", \"me\"]\n").unwrap();
        let command = vec!["tell".to_owned(), "me".to_owned()];
        assert_eq!(attention(&file), Attention { command, desktop: true });
        fs::write(&file, "[attention]\ncommand = \"tell me\"\n").unwrap();
        assert!(check(&file).unwrap_err().hints[0].contains("silence"));
        let table = [
            ("silence = \"abc\"", "line 1: `silence`: `abc` is not a duration"),
            ("\nsilence = \"0s\"", "line 2: `silence`: it must be longer than 0s, got `0s`"),
            ("silence = \"-5m\"", "line 1: `silence`: it must be longer than 0s, got `-5m`"),
        ];
        for (text, expected) in table {
            fs::write(&file, text).unwrap();
            let error = check(&file).unwrap_err();
            assert!(error.causes[0].starts_with(expected), "{text}: {error}");
        }
    }
}
