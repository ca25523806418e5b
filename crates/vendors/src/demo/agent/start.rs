//! Starts the agent: chooses the conversation and the user interface.

use std::io;
use std::path::Path;

use super::super::paths::{self, KEY_REJECTED_MESSAGE, KEY_VARIABLE, NESTED_VARIABLE};
use super::super::records::LiveStatus;
use super::arguments::{self, DemoMode, Identity, Invocation, Shows, USAGE};
use super::body::{DemoBody, DemoEnding, new_id};
use super::engine::Engine;
use super::memory::Memory;
use super::state_files::{self, LiveEntryFile};
use super::terminal::DemoTerminal;
use super::transcript::DemoTranscript;
use super::wait::{DemoWake, SignalSockets};
use super::{AgentHost, DemoRefusal, headless, interactive};

/// If this environment variable is `1`, `--resume` with an unknown id begins a new conversation, as
/// in several real agents.
const BLANK_VARIABLE: &str = "SEGUE_DEMO_BLANK_ON_UNKNOWN";

/// Runs the agent until its end. Returns its exit code.
pub(super) fn start(arguments: Vec<String>, host: &dyn AgentHost) -> Result<u8, DemoRefusal> {
    let invocation = arguments::parse(arguments)
        .map_err(|reason| DemoRefusal::new(2, format!("{reason}\n{USAGE}")))?;
    refuse_nesting(host)?;
    refuse_rejected_key(host)?;
    let config_dir = paths::config_dir(host.environment())
        .map_err(|error| DemoRefusal::new(2, error.to_string()))?;
    let cwd = host.cwd()?;
    let (transcript, memory) = choose_conversation(&invocation, host, &config_dir, &cwd)?;
    let live_entry = LiveEntryFile::new(&config_dir, &cwd, &host.process(), transcript.id());
    let mut body = DemoBody {
        host,
        config_dir,
        cwd,
        transcript,
        live_entry,
        tools: Vec::new(),
        deadline: None,
        ask_command: invocation.ask_command.clone(),
        is_deaf: false,
    };
    let ending = run(&invocation, &mut body, memory)?;
    Ok(match ending {
        DemoEnding::Clean(status) => {
            body.clean_up()?;
            status
        }
        DemoEnding::Crash(status) => status,
    })
}

fn run(
    invocation: &Invocation,
    body: &mut DemoBody<'_>,
    memory: Memory,
) -> Result<DemoEnding, DemoRefusal> {
    let signals = SignalSockets::listen()?;
    if invocation.visibility == Shows::Never {
        body.live_entry.is_hidden = true;
        return Ok(show_nothing(signals)?);
    }
    match invocation.mode {
        DemoMode::Headless => {
            body.publish_status(LiveStatus::Starting)?;
            let engine = Engine::new(memory, invocation.permission, invocation.asks_by());
            Ok(headless::run(invocation, body, engine, signals)?)
        }
        DemoMode::Interactive => {
            let terminal = DemoTerminal::open()?;
            let is_trusted = state_files::is_trusted(&body.config_dir, &body.cwd);
            body.live_entry.is_hidden = invocation.visibility == Shows::OnceTrusted && !is_trusted;
            body.publish_status(LiveStatus::Starting)?;
            Ok(interactive::run(invocation, body, memory, signals, &terminal)?)
        }
    }
}

/// Waits for a signal, like a program that hangs before it draws anything.
fn show_nothing(mut signals: SignalSockets) -> io::Result<DemoEnding> {
    loop {
        if signals.wait(None, &[], None)?.contains(&DemoWake::Stop) {
            return Ok(DemoEnding::Clean(0));
        }
    }
}

fn refuse_nesting(host: &dyn AgentHost) -> Result<(), DemoRefusal> {
    match host.environment().get(NESTED_VARIABLE) {
        None => Ok(()),
        Some(outer) => Err(DemoRefusal::new(
            1,
            format!("cannot run inside another session (`{NESTED_VARIABLE}` is `{outer}`)"),
        )),
    }
}

/// Returns an error if the API key is rejected. Real agents exit in the same way.
fn refuse_rejected_key(host: &dyn AgentHost) -> Result<(), DemoRefusal> {
    match host.environment().get(KEY_VARIABLE) {
        Some("rejected") => Err(DemoRefusal::new(1, KEY_REJECTED_MESSAGE)),
        _ => Ok(()),
    }
}

/// Opens or creates the conversation that the command line names. The agent locks nothing, so two
/// agents can open the same conversation.
fn choose_conversation(
    invocation: &Invocation,
    host: &dyn AgentHost,
    config_dir: &Path,
    cwd: &Path,
) -> Result<(DemoTranscript, Memory), DemoRefusal> {
    let new_conversation = |id| (DemoTranscript::new(config_dir, cwd, id), Memory::default());
    match &invocation.identity {
        Identity::Own => Ok(new_conversation(new_id())),
        Identity::Preset(id) => {
            let (transcript, memory) = new_conversation(id.clone());
            if transcript.exists()? {
                return Err(DemoRefusal::new(2, format!("session ID {id} is already in use")));
            }
            Ok((transcript, memory))
        }
        Identity::Resume(id) => match DemoTranscript::resume(config_dir, cwd, id)? {
            Some(resumed) => Ok(resumed),
            None if host.environment().get(BLANK_VARIABLE) == Some("1") => {
                Ok(new_conversation(new_id()))
            }
            None => {
                let shown = id.escape_debug();
                Err(DemoRefusal::new(1, format!("no conversation found with session ID {shown}")))
            }
        },
    }
}
