//! The interactive user interface: converts keys to events until the agent ends.

use std::io::{self, Stdout};
use std::time::Instant;

use rustix::io::Errno;
use segue_core::rules::display::counted;

use super::arguments::Invocation;
use super::body::{DemoBody, DemoEnding};
use super::editor::Editor;
use super::effect::{DemoDialog, DemoEvent};
use super::engine::Engine;
use super::keys::{DemoKey, ESCAPE_WAIT, KeyReader};
use super::memory::Memory;
use super::state_files;
use super::terminal::DemoTerminal;
use super::wait::{DemoWake, SignalSockets};
use super::window::DemoWindow;

/// Runs until the user exits, a signal arrives, or the terminal closes.
///
/// After SIGTERM the exit code is 0, as in real agents. The exit code alone does not show whether
/// the user exited.
pub(super) fn run(
    invocation: &Invocation,
    body: &mut DemoBody<'_>,
    memory: Memory,
    signals: SignalSockets,
    terminal: &DemoTerminal,
) -> io::Result<DemoEnding> {
    let mut window = DemoWindow::open(io::stdout(), terminal.size())?;
    window.notice(welcome(invocation, body.transcript.id(), memory.message_count()))?;
    let engine = Engine::new(memory, invocation.permission, invocation.asks_by());
    let mut desk = Desk {
        terminal,
        engine,
        window,
        signals,
        editor: Editor::default(),
        keys: KeyReader::default(),
        escape_deadline: None,
    };
    let is_trusted = !invocation.asks_trust || state_files::is_trusted(&body.config_dir, &body.cwd);
    let ended = desk.run(body, DemoEvent::Begin { is_trusted, prompt: invocation.prompt.clone() });
    let closed = desk.window.close();
    match ended.and_then(|ending| closed.map(|()| ending)) {
        Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
            Ok(DemoEnding::Clean(0))
        }
        ended => ended,
    }
}

fn welcome(invocation: &Invocation, id: &str, message_count: usize) -> String {
    let resumed =
        (message_count > 0).then(|| format!("resumed after {}", counted(message_count, "message")));
    let model = invocation.model.as_ref().map(|model| format!("model: {model}"));
    let instructions = invocation.instructions.as_ref().map(|text| format!("instructions: {text}"));
    let mut lines = vec![format!("demo agent {}, conversation {id}", env!("CARGO_PKG_VERSION"))];
    lines.extend([resumed, model, instructions].into_iter().flatten());
    lines.push("/help lists the commands".to_owned());
    lines.join("\n")
}

/// The terminal, and the state of the user interface.
struct Desk<'a> {
    terminal: &'a DemoTerminal,
    engine: Engine,
    window: DemoWindow<Stdout>,
    signals: SignalSockets,
    editor: Editor,
    keys: KeyReader,
    /// When an incomplete escape sequence becomes a key.
    escape_deadline: Option<Instant>,
}

impl Desk<'_> {
    fn run(&mut self, body: &mut DemoBody<'_>, begin: DemoEvent) -> io::Result<DemoEnding> {
        let mut ended = self.handle(body, begin)?;
        loop {
            if let Some(ending) = ended {
                return Ok(ending);
            }
            self.window.draw(self.engine.dialog(), &self.editor)?;
            let deadline = body.deadline.into_iter().chain(self.escape_deadline).min();
            let input = (!body.is_deaf).then(|| self.terminal.input());
            for wake in self.signals.wait(input, &body.tool_outputs(), deadline)? {
                ended = self.handle_wake(body, wake)?;
                if ended.is_some() {
                    break;
                }
            }
        }
    }

    fn handle(
        &mut self,
        body: &mut DemoBody<'_>,
        event: DemoEvent,
    ) -> io::Result<Option<DemoEnding>> {
        body.handle(&mut self.engine, &mut self.window, event)
    }

    fn handle_wake(
        &mut self,
        body: &mut DemoBody<'_>,
        wake: DemoWake,
    ) -> io::Result<Option<DemoEnding>> {
        match wake {
            DemoWake::Stop => Ok(Some(DemoEnding::Clean(0))),
            DemoWake::Resized => {
                self.window.resize(self.terminal.size());
                Ok(None)
            }
            DemoWake::Input => self.read_terminal(body),
            DemoWake::Tool(index) => match body.read_tool(index)? {
                Some(event) => self.handle(body, event),
                None => Ok(None),
            },
            DemoWake::Deadline => self.handle_deadline(body),
        }
    }

    fn read_terminal(&mut self, body: &mut DemoBody<'_>) -> io::Result<Option<DemoEnding>> {
        let bytes = self.terminal.read()?;
        if bytes.is_empty() {
            return Ok(Some(DemoEnding::Clean(0)));
        }
        let keys = self.keys.feed(&bytes);
        self.escape_deadline = self.keys.is_waiting().then(|| Instant::now() + ESCAPE_WAIT);
        self.handle_keys(body, keys)
    }

    fn handle_deadline(&mut self, body: &mut DemoBody<'_>) -> io::Result<Option<DemoEnding>> {
        let now = Instant::now();
        let has_passed = |deadline: &mut Instant| *deadline <= now;
        if self.escape_deadline.take_if(has_passed).is_some() {
            let keys = self.keys.flush();
            if let Some(ending) = self.handle_keys(body, keys)? {
                return Ok(Some(ending));
            }
        }
        match body.deadline.take_if(has_passed) {
            Some(_) => self.handle(body, DemoEvent::Tick),
            None => Ok(None),
        }
    }

    fn handle_keys(
        &mut self,
        body: &mut DemoBody<'_>,
        keys: Vec<DemoKey>,
    ) -> io::Result<Option<DemoEnding>> {
        for key in keys {
            match meaning_of_key(key, &self.engine, &mut self.editor) {
                DemoKeyMeaning::Nothing => {}
                DemoKeyMeaning::Leave => return Ok(Some(DemoEnding::Clean(0))),
                DemoKeyMeaning::Mouse(report) => self.window.notice(format!("mouse {report}"))?,
                DemoKeyMeaning::Event(event) => {
                    if let Some(ending) = self.handle(body, event)? {
                        return Ok(Some(ending));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
enum DemoKeyMeaning {
    Nothing,
    Event(DemoEvent),
    Mouse(String),
    Leave,
}

/// Returns the effect of a key in the current state. A dialog ignores a paste, and the Enter after
/// it answers yes, as in real agents.
fn meaning_of_key(key: DemoKey, engine: &Engine, editor: &mut Editor) -> DemoKeyMeaning {
    if let Some(dialog) = engine.dialog() {
        return meaning_in_dialog(&key, &dialog);
    }
    match key {
        DemoKey::Control('c') | DemoKey::Escape if !engine.is_resting() => {
            DemoKeyMeaning::Event(DemoEvent::Interrupt)
        }
        DemoKey::Control('c') => {
            editor.clear();
            DemoKeyMeaning::Nothing
        }
        DemoKey::Control('d') if editor.is_empty() => DemoKeyMeaning::Leave,
        DemoKey::Mouse(report) => DemoKeyMeaning::Mouse(report),
        DemoKey::Enter => {
            let draft = editor.take();
            if draft.trim().is_empty() {
                DemoKeyMeaning::Nothing
            } else {
                DemoKeyMeaning::Event(DemoEvent::Message(draft))
            }
        }
        key => {
            editor.press(&key);
            DemoKeyMeaning::Nothing
        }
    }
}

fn meaning_in_dialog(key: &DemoKey, dialog: &DemoDialog) -> DemoKeyMeaning {
    let choice = match key {
        DemoKey::Enter | DemoKey::Char('y') => Some(0),
        DemoKey::Escape | DemoKey::Char('n') | DemoKey::Control('c') => None,
        DemoKey::Control('d') => return DemoKeyMeaning::Leave,
        DemoKey::Char(digit) => match digit.to_digit(10) {
            Some(number) if (1..=dialog.choices.len()).contains(&(number as usize)) => {
                Some(number as usize - 1)
            }
            _ => return DemoKeyMeaning::Nothing,
        },
        _ => return DemoKeyMeaning::Nothing,
    };
    DemoKeyMeaning::Event(DemoEvent::Choice(choice))
}

#[cfg(test)]
mod tests {
    use segue_core::model::Permission;

    use super::super::arguments::AsksBy;
    use super::*;

    fn engine(message: &str) -> Engine {
        let mut engine = Engine::new(Memory::default(), Permission::Ask, AsksBy::Terminal);
        engine.handle(DemoEvent::Message(message.to_owned()));
        engine
    }

    fn typed(text: &str) -> Editor {
        let mut editor = Editor::default();
        editor.press(&DemoKey::Paste(text.to_owned()));
        editor
    }

    #[test]
    fn enter_sends_the_whole_draft_and_ignores_an_empty_one() {
        let mut editor = typed("two\nlines ");
        let sent = DemoKeyMeaning::Event(DemoEvent::Message("two\nlines ".into()));
        assert_eq!(meaning_of_key(DemoKey::Enter, &engine("hi"), &mut editor), sent);
        assert_eq!(
            meaning_of_key(DemoKey::Enter, &engine("hi"), &mut editor),
            DemoKeyMeaning::Nothing
        );
    }

    #[test]
    fn control_c_interrupts_a_turn_and_otherwise_clears_the_draft() {
        let mut editor = typed("draft");
        let interrupt = DemoKeyMeaning::Event(DemoEvent::Interrupt);
        assert_eq!(meaning_of_key(DemoKey::Control('c'), &engine("/hang"), &mut editor), interrupt);
        assert!(!editor.is_empty());
        assert_eq!(
            meaning_of_key(DemoKey::Control('c'), &engine("hi"), &mut editor),
            DemoKeyMeaning::Nothing
        );
        assert!(editor.is_empty());
    }

    #[test]
    fn control_d_leaves_only_if_the_draft_is_empty() {
        let mut editor = typed("draft");
        assert_eq!(
            meaning_of_key(DemoKey::Control('d'), &engine("hi"), &mut editor),
            DemoKeyMeaning::Nothing
        );
        editor.clear();
        assert_eq!(
            meaning_of_key(DemoKey::Control('d'), &engine("hi"), &mut editor),
            DemoKeyMeaning::Leave
        );
    }

    #[test]
    fn dialog_accepts_its_keys_and_ignores_all_others() {
        let engine_with_dialog = engine("/ask");
        let mut editor = Editor::default();
        let yes = DemoKeyMeaning::Event(DemoEvent::Choice(Some(0)));
        let no = DemoKeyMeaning::Event(DemoEvent::Choice(None));
        let table = [
            (DemoKey::Char('1'), &yes),
            (DemoKey::Char('y'), &yes),
            (DemoKey::Enter, &yes),
            (DemoKey::Char('2'), &DemoKeyMeaning::Event(DemoEvent::Choice(Some(1)))),
            (DemoKey::Char('n'), &no),
            (DemoKey::Escape, &no),
            (DemoKey::Char('3'), &DemoKeyMeaning::Nothing),
            (DemoKey::Char('x'), &DemoKeyMeaning::Nothing),
            (DemoKey::Paste("y".into()), &DemoKeyMeaning::Nothing),
        ];
        for (key, wanted) in table {
            assert_eq!(
                meaning_of_key(key.clone(), &engine_with_dialog, &mut editor),
                *wanted,
                "{key:?}"
            );
        }
        assert!(editor.is_empty());
    }
}
