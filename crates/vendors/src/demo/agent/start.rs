//! The start of the agent: chooses the conversation and the user interface.

use std::io;
use std::path::Path;

use super::super::paths::{self, KEY_REFUSED, KEY_VARIABLE, NESTED_VARIABLE};
use super::super::records::LiveStatus;
use super::arguments::{self, DemoMode, Identity, Invocation, Shows, USAGE};
use super::body::{DemoBody, DemoEnding, new_id};
use super::engine::Engine;
use super::log::DemoTranscript;
use super::memory::Memory;
use super::presence::{self, LiveEntryFile};
use super::terminal::DemoTerminal;
use super::wait::{DemoWake, SignalSockets};
use super::{AgentHost, DemoRefusal, headless, interactive};

/// If this environment variable is `1`, `--resume` of an unknown conversation begins a new one, as
/// it does in several real agents.
const BLANK_VARIABLE: &str = "SEGUE_DEMO_BLANK_ON_UNKNOWN";

/// Runs the agent until its end. Returns its exit code.
pub(super) fn start(arguments: Vec<String>, host: &dyn AgentHost) -> Result<u8, DemoRefusal> {
    let invocation = arguments::parse(arguments)
        .map_err(|reason| DemoRefusal::new(2, format!("{reason}\n{USAGE}")))?;
    refuse_nesting(host)?;
    refuse_key(host)?;
    let home = paths::config_dir(host.environment())
        .map_err(|error| DemoRefusal::new(2, error.to_string()))?;
    let cwd = host.cwd()?;
    let (log, memory) = identify(&invocation, host, &home, &cwd)?;
    let presence = LiveEntryFile::new(&home, &cwd, &host.process(), log.id());
    let (tools, deadline) = (Vec::new(), None);
    let mut body = DemoBody { host, home, cwd, log, presence, tools, deadline, is_deaf: false };
    let ending = live(&invocation, &mut body, memory)?;
    Ok(match ending {
        DemoEnding::Clean(status) => {
            body.clean_up()?;
            status
        }
        DemoEnding::Crash(status) => status,
    })
}

fn live(
    invocation: &Invocation,
    body: &mut DemoBody<'_>,
    memory: Memory,
) -> Result<DemoEnding, DemoRefusal> {
    let signals = SignalSockets::listen()?;
    if invocation.shows == Shows::Never {
        body.presence.is_hidden = true;
        return Ok(show_nothing(signals)?);
    }
    match invocation.mode {
        DemoMode::Headless => {
            body.announce(LiveStatus::Starting)?;
            let engine = Engine::new(memory, invocation.permission, invocation.mode);
            Ok(headless::live(invocation, body, engine, signals)?)
        }
        DemoMode::Interactive => {
            let terminal = DemoTerminal::take()?;
            let is_trusted = presence::is_trusted(&body.home, &body.cwd);
            body.presence.is_hidden = invocation.shows == Shows::OnceTrusted && !is_trusted;
            body.announce(LiveStatus::Starting)?;
            Ok(interactive::live(invocation, body, memory, signals, &terminal)?)
        }
    }
}

/// Waits for a signal to stop, like a program that hangs before it draws anything.
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

/// Refuses to start with a rejected key, like real agents whose service rejects the API key.
fn refuse_key(host: &dyn AgentHost) -> Result<(), DemoRefusal> {
    match host.environment().get(KEY_VARIABLE) {
        Some("rejected") => Err(DemoRefusal::new(1, KEY_REFUSED)),
        _ => Ok(()),
    }
}

/// Chooses the conversation. Nothing is locked: two agents can have the same conversation open.
fn identify(
    invocation: &Invocation,
    host: &dyn AgentHost,
    home: &Path,
    cwd: &Path,
) -> Result<(DemoTranscript, Memory), DemoRefusal> {
    let blank = |id| (DemoTranscript::new(home, cwd, id), Memory::default());
    match &invocation.identity {
        Identity::Own => Ok(blank(new_id())),
        Identity::Preset(id) => {
            let (log, memory) = blank(id.clone());
            if log.exists()? {
                return Err(DemoRefusal::new(2, format!("session ID {id} is already in use")));
            }
            Ok((log, memory))
        }
        Identity::Resume(id) => match DemoTranscript::resume(home, cwd, id)? {
            Some(resumed) => Ok(resumed),
            None if host.environment().get(BLANK_VARIABLE) == Some("1") => Ok(blank(new_id())),
            None => {
                let shown = id.escape_debug();
                Err(DemoRefusal::new(1, format!("no conversation found with session ID {shown}")))
            }
        },
    }
}
