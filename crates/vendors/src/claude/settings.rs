//! The settings file of one launch: Segue's hooks, and the settings from the session's own
//! arguments.
//!
//! The registry shows which conversation a process is in, whether it works, and what it waits for.
//! Hooks report what the registry lacks: that a prompt was accepted, and how a turn ended. The output
//! of a headless launch reports everything that a hook could. There, a hook only asks a person.

use std::path::Path;

use segue_core::model::Permission;
use segue_core::ports::{CommandPlan, Files, NewFile};
use segue_core::{Error, Result};
use serde_json::{Map, Value, json};

use super::{questions, versions};

const SETTINGS_FLAG: &str = "--settings";

/// The events that no other source reports in time.
const HOOK_EVENTS: [&str; 3] = ["UserPromptSubmit", "Stop", "StopFailure"];

/// How long Claude Code waits for a hook.
const HOOK_TIMEOUT_SECONDS: u32 = 5;

/// How long a headless Claude Code waits for the answer of a person: a week. Then it refuses the tool.
/// Claude Code counts in milliseconds, and its timers have at most 31 bits.
const ANSWER_TIMEOUT_SECONDS: u32 = 7 * 24 * 60 * 60;

const LARGEST_SETTINGS_BYTES: usize = 1024 * 1024;

/// The hooks of a launch.
struct LaunchHooks<'a> {
    events: &'a [&'a str],
    command: &'a str,
    timeout_seconds: u32,
}

impl<'a> LaunchHooks<'a> {
    /// Returns the hooks that a launch needs. `None` if it needs none.
    fn of(plan: &CommandPlan<'a>) -> Option<Self> {
        let session = plan.session;
        if !session.headless {
            let (events, timeout_seconds) = (HOOK_EVENTS.as_slice(), HOOK_TIMEOUT_SECONDS);
            return Some(Self { events, command: plan.hook, timeout_seconds });
        }
        let asks = session.permission != Permission::Auto && versions::asks_headless(plan.version);
        asks.then_some(Self {
            events: &[questions::EVENT],
            command: plan.ask,
            timeout_seconds: ANSWER_TIMEOUT_SECONDS,
        })
    }
}

/// Takes the settings out of a session's own arguments. Returns the other arguments, and a file
/// with those settings and Segue's hooks. Returns all arguments and no file if the launch needs no
/// hooks. Fails if the settings cannot be read or merged.
pub(super) fn prepare(
    plan: &CommandPlan<'_>,
    arguments: Vec<String>,
) -> Result<(Vec<String>, Option<NewFile>)> {
    let Some(hooks) = LaunchHooks::of(plan) else { return Ok((arguments, None)) };
    let (rest, value) = take_settings(arguments);
    let mut settings = match value {
        Some(value) => parse_settings(plan.files, &plan.session.cwd, &value)?,
        None => Map::new(),
    };
    add_hooks(&mut settings, &hooks)?;
    if plan.session.permission == Permission::Auto {
        // `permission = "auto"` already answers the question that Claude Code would ask here.
        settings.insert("skipDangerousModePermissionPrompt".to_owned(), json!(true));
    }
    let path = plan.folder.join("settings.json");
    Ok((rest, Some(NewFile { path, contents: Value::Object(settings).to_string() })))
}

/// Takes the settings flag and its value out of the arguments. If the flag is given twice, the last
/// one counts, as it does for Claude Code.
fn take_settings(arguments: Vec<String>) -> (Vec<String>, Option<String>) {
    let (mut rest, mut found) = (Vec::new(), None);
    let mut words = arguments.into_iter();
    while let Some(word) = words.next() {
        match word.strip_prefix(SETTINGS_FLAG) {
            Some("") => found = words.next().or(found),
            Some(value) if value.starts_with('=') => found = Some(value[1..].to_owned()),
            _ => rest.push(word),
        }
    }
    (rest, found)
}

/// Reads settings that are given as inline JSON or as the path of a file.
fn parse_settings(files: &dyn Files, cwd: &Path, value: &str) -> Result<Map<String, Value>> {
    let inline = value.trim().starts_with('{');
    let text = if inline {
        value.as_bytes().to_vec()
    } else {
        let path = cwd.join(value);
        files.head(&path, LARGEST_SETTINGS_BYTES).map_err(|error| {
            Error::config(format!("cannot read the settings `{}`", path.display()))
                .caused_by(error)
                .hint(format!("correct the value of `{SETTINGS_FLAG}` in the agent's arguments"))
        })?
    };
    let source = if inline { SETTINGS_FLAG } else { value };
    serde_json::from_slice(&text).map_err(|error| {
        Error::config(format!("cannot parse the settings `{source}`"))
            .caused_by(error)
            .hint("write one JSON object, such as `{}`")
    })
}

fn add_hooks(settings: &mut Map<String, Value>, added: &LaunchHooks<'_>) -> Result<()> {
    let LaunchHooks { events, command, timeout_seconds } = added;
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    for event in *events {
        let all = hooks.as_object_mut().map(|hooks| hooks.entry(*event).or_insert(json!([])));
        let all = all.and_then(Value::as_array_mut).ok_or_else(|| {
            Error::config("invalid `hooks` in the settings of the agent's arguments")
                .caused_by("`hooks` must be an object that has an array for each event")
        })?;
        let hook = json!({"type": "command", "command": command, "timeout": timeout_seconds});
        all.push(json!({"hooks": [hook]}));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use segue_core::model::{LaunchMode, Session};

    use super::*;
    use crate::testing::{CountingFiles, plan, session};

    fn prepared(session: &Session) -> Result<(Vec<String>, Value)> {
        let disk = CountingFiles::default();
        let plan = plan(session, &disk, (LaunchMode::Fresh, None, None));
        let (rest, file) = prepare(&plan, session.args.clone())?;
        let file = file.unwrap();
        assert_eq!(file.path, Path::new("/state/launches/one/settings.json"));
        Ok((rest, serde_json::from_str(&file.contents).unwrap()))
    }

    fn with(args: &[&str]) -> Session {
        Session { args: args.iter().map(|word| (*word).to_owned()).collect(), ..session() }
    }

    #[test]
    fn without_own_settings_the_file_has_only_the_hooks_of_segue() {
        let (rest, settings) = prepared(&with(&["--verbose"])).unwrap();
        assert_eq!(rest, ["--verbose"]);
        let hook = json!([{"hooks": [
            {"type": "command", "command": "'/bin/segue' hook", "timeout": 5}
        ]}]);
        let hooks = json!({"UserPromptSubmit": hook, "Stop": hook, "StopFailure": hook});
        assert_eq!(settings, json!({"hooks": hooks}));
    }

    #[test]
    fn own_settings_are_kept_as_file_as_inline_json_and_in_one_argument() {
        let own = r#"{"model":"m","hooks":{"Stop":[{"hooks":[]}],"PreToolUse":[]}}"#;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), own).unwrap();
        let name = file.path().to_str().unwrap();
        let joined = format!("--settings={own}");
        for args in [["--settings", name, "-x"], ["--settings", own, "-x"], ["-x", "", &joined]] {
            let (rest, settings) = prepared(&with(&args)).unwrap();
            assert!(rest.iter().all(|word| word == "-x" || word.is_empty()), "{rest:?}");
            assert_eq!(settings["model"], "m", "{args:?}");
            assert_eq!(settings["hooks"]["PreToolUse"], json!([]));
            let stop = settings["hooks"]["Stop"].as_array().unwrap();
            assert_eq!(stop[0], json!({"hooks": []}), "the session's own hook stays first");
            assert_eq!(stop.len(), 2);
        }
    }

    #[test]
    fn relative_settings_path_is_resolved_in_the_sessions_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.json"), r#"{"model":"m"}"#).unwrap();
        let mut session = with(&["--settings", "mine.json"]);
        session.cwd = folder.path().to_owned();
        assert_eq!(prepared(&session).unwrap().1["model"], "m");
    }

    #[test]
    fn settings_that_cannot_be_merged_are_an_error() {
        for value in
            ["/nowhere/at-all.json", "{\"a\":", r#"{"hooks":[]}"#, r#"{"hooks":{"Stop":1}}"#]
        {
            let error = prepared(&with(&["--settings", value])).unwrap_err();
            assert_eq!(error.kind, segue_core::Kind::Config, "{value}");
        }
    }

    #[test]
    fn headless_launch_has_only_the_hook_that_asks_for_a_permission() {
        for permission in [Permission::Ask, Permission::AcceptEdits] {
            let own = with(&["--settings", r#"{"model":"x"}"#, "-x"]);
            let session = Session { headless: true, permission, ..own };
            let (rest, settings) = prepared(&session).unwrap();
            assert_eq!(rest, ["-x"]);
            let hooks = settings["hooks"].as_object().unwrap();
            assert_eq!(hooks.keys().collect::<Vec<_>>(), ["PermissionRequest"]);
            let hook = &hooks["PermissionRequest"][0]["hooks"][0];
            assert_eq!(hook["command"], "'/bin/segue' ask-person");
            assert_eq!(hook["timeout"], 604_800);
            assert_eq!(settings["model"], "x");
        }
    }

    #[test]
    fn headless_launch_that_cannot_ask_keeps_its_arguments() {
        let own = || Session { headless: true, ..with(&["--settings", "{}"]) };
        let allowed = Session { permission: Permission::Auto, ..own() };
        let disk = CountingFiles::default();
        for (session, version) in [(allowed, "2.1.326"), (own(), "2.1.197")] {
            let plan = plan(&session, &disk, (LaunchMode::Fresh, None, None));
            let plan = CommandPlan { version: Some(version), ..plan };
            let (rest, file) = prepare(&plan, session.args.clone()).unwrap();
            assert_eq!(rest, ["--settings", "{}"]);
            assert_eq!(file, None);
        }
    }

    #[test]
    fn auto_permission_skips_the_question_about_bypassing_permissions() {
        let mut session = with(&[]);
        session.permission = Permission::Auto;
        let (_, settings) = prepared(&session).unwrap();
        assert_eq!(settings["skipDangerousModePermissionPrompt"], true);
    }
}
