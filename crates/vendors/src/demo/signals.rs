//! Signals from the agent's files and its output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::model::{
    Activity, Evidence, Failure, FailureClass, ProcessRef, Signal, Source, WaitingFor,
};
use segue_core::ports::{Files, Place, SignalSources};
use serde::Deserialize;

use super::records::LiveStatus;
use super::{Demo, launch, paths, registry};
use crate::shared::signals;

impl SignalSources for Demo {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(20)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![
            paths::live_folder(&place.config_dir),
            paths::transcripts_folder(&place.config_dir, &place.cwd),
        ]
    }

    /// Reads the live entry of the launch's own process. Files of other processes give no signals.
    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        if registry::pid_of(changed) != Some(agent.pid) {
            return Vec::new();
        }
        let Some(entry) = registry::read(files, changed) else { return Vec::new() };
        // A crash leaves the entry behind, and another process may have the same process id by now.
        if entry.started != agent.started {
            return Vec::new();
        }
        let activity =
            activity(entry.status).map(|activity| signals::activity(activity, Source::Registry));
        let failure = entry.failure.as_deref().and_then(limit_in);
        let failed = failure.map(|failure| {
            let text = failure.message.clone();
            Signal::TurnEnded { ok: false, text, failure: Some(failure) }
        });
        let conversation = signals::conversation(entry.id, Evidence::Registry);
        [conversation].into_iter().chain(failed).chain(activity).collect()
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        match serde_json::from_str(line) {
            Ok(DemoStreamLine::Init { session_id }) if paths::is_id(&session_id) => {
                let working = signals::activity(Activity::Working, Source::Stream);
                vec![signals::conversation(session_id, Evidence::Stream), working]
            }
            Ok(DemoStreamLine::Result { ok, text }) => {
                let failure = limit_in(&text).filter(|_| !ok);
                vec![Signal::TurnEnded { ok, text, failure }]
            }
            _ => Vec::new(),
        }
    }

    fn failure_in_output(&self, errors: &str) -> Option<Failure> {
        launch::start_failure(errors)
    }
}

/// Returns the usage limit that an error message is about, and when it ends.
fn limit_in(text: &str) -> Option<Failure> {
    let until = text.strip_prefix(paths::LIMIT_MESSAGE)?;
    let (class, message) = (FailureClass::UsageLimit, text.to_owned());
    Some(Failure { class, message, resets_at: until.parse().ok() })
}

fn activity(status: LiveStatus) -> Option<Activity> {
    match status {
        LiveStatus::Starting => None,
        LiveStatus::Working => Some(Activity::Working),
        LiveStatus::Idle => Some(Activity::Idle),
        LiveStatus::WaitingPermission => Some(Activity::Waiting(WaitingFor::Permission)),
        LiveStatus::WaitingTrust => Some(Activity::Waiting(WaitingFor::Trust)),
        LiveStatus::WaitingQuestion => Some(Activity::Waiting(WaitingFor::Question)),
    }
}

/// A line of a headless turn's output that contains signals.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum DemoStreamLine {
    Init { session_id: String },
    Result { ok: bool, text: String },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Home, process};

    fn write_entry(home: &Home, id: &str, status: &str) -> std::path::PathBuf {
        let entry = format!(
            r#"{{"pid":7,"started":99,"id":"{id}","cwd":"/code/a","status":"{status}",
            "at":"2026-01-01T00:00:00Z"}}"#
        );
        home.write("live/7.json", entry)
    }

    #[test]
    fn failed_turn_names_the_end_of_the_usage_limit() {
        let resets_at = |ok: bool, text: &str| {
            let line = format!(r#"{{"type":"result","ok":{ok},"text":"{text}","session_id":"a"}}"#);
            match Demo.stream_signals(&line).pop() {
                Some(Signal::TurnEnded { failure, .. }) => failure.map(|it| it.resets_at),
                other => panic!("{other:?}"),
            }
        };
        let limit = "the usage limit is reached until 2030-01-01T10:00:00Z";
        let at = "2030-01-01T10:00:00Z".parse().unwrap();
        assert_eq!(resets_at(false, limit), Some(Some(at)));
        assert_eq!(resets_at(false, "the usage limit is reached until later"), Some(None));
        assert_eq!(resets_at(true, limit), None);
        assert_eq!(resets_at(false, "no disk"), None);
    }

    #[test]
    fn entry_of_the_process_names_the_conversation_and_the_activity() {
        let home = Home::new();
        let table = [
            ("starting", None),
            ("working", Some(Activity::Working)),
            ("idle", Some(Activity::Idle)),
            ("waiting_permission", Some(Activity::Waiting(WaitingFor::Permission))),
            ("waiting_trust", Some(Activity::Waiting(WaitingFor::Trust))),
            ("waiting_question", Some(Activity::Waiting(WaitingFor::Question))),
        ];
        for (status, activity) in table {
            let path = write_entry(&home, "an-id", status);
            let mut wanted = vec![signals::conversation("an-id", Evidence::Registry)];
            wanted.extend(activity.map(|activity| signals::activity(activity, Source::Registry)));
            assert_eq!(Demo.file_signals(&home.disk, &path, &process(7, 99)), wanted, "{status}");
        }
    }

    #[test]
    fn new_conversation_in_the_entry_gives_its_id() {
        let home = Home::new();
        let path = write_entry(&home, "before", "idle");
        assert_eq!(
            Demo.file_signals(&home.disk, &path, &process(7, 99))[0],
            signals::conversation("before", Evidence::Registry)
        );
        write_entry(&home, "after", "idle");
        assert_eq!(
            Demo.file_signals(&home.disk, &path, &process(7, 99))[0],
            signals::conversation("after", Evidence::Registry)
        );
    }

    #[test]
    fn entry_of_another_process_or_a_missing_one_gives_no_signals() {
        let home = Home::new();
        let path = write_entry(&home, "an-id", "idle");
        assert_eq!(Demo.file_signals(&home.disk, &path, &process(8, 99)), []);
        assert_eq!(
            Demo.file_signals(&home.disk, &path, &process(7, 100)),
            [],
            "the process id was reused"
        );
        let transcript = home.write("conversations/-code-a/7.json", "{}");
        assert_eq!(Demo.file_signals(&home.disk, &transcript, &process(7, 99)), []);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(Demo.file_signals(&home.disk, &path, &process(7, 99)), []);
    }

    #[test]
    fn output_names_the_conversation_and_how_the_turn_ended() {
        let init = r#"{"type":"init","session_id":"an-id","cwd":"/code/a"}"#;
        let working = signals::activity(Activity::Working, Source::Stream);
        let wanted = [signals::conversation("an-id", Evidence::Stream), working];
        assert_eq!(Demo.stream_signals(init), wanted);
        let result = r#"{"type":"result","ok":false,"text":"no","session_id":"an-id"}"#;
        assert_eq!(
            Demo.stream_signals(result),
            [Signal::TurnEnded { ok: false, text: "no".into(), failure: None }]
        );
        for nothing in [r#"{"type":"assistant","text":"hi"}"#, "not json", "", "[]"] {
            assert_eq!(Demo.stream_signals(nothing), [], "{nothing}");
        }
    }
}
