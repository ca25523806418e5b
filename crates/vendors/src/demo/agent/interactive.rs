//! The agent in a terminal: turns keys into events until the agent ends.

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
use super::presence;
use super::terminal::DemoTerminal;
use super::wait::{DemoWake, SignalSockets};
use super::window::DemoWindow;

/// Runs until the person leaves, a signal arrives, or the terminal is gone.
///
/// A SIGTERM ends with exit code 0, which looks like a person who left: a known trap of real
/// agents.
pub(super) fn live(
    invocation: &Invocation,
    body: &mut DemoBody<'_>,
    memory: Memory,
    signals: SignalSockets,
    terminal: &DemoTerminal,
) -> io::Result<DemoEnding> {
    let mut window = DemoWindow::open(io::stdout(), terminal.size())?;
    window.notice(welcome(invocation, body.log.id(), memory.heard()))?;
    let engine = Engine::new(memory, invocation.permission, invocation.mode);
    let mut desk = Desk {
        terminal,
        engine,
        window,
        signals,
        editor: Editor::default(),
        keys: KeyReader::default(),
        escape_until: None,
    };
    let trusted = !invocation.ask_trust || presence::is_trusted(&body.home, &body.cwd);
    let ended = desk.run(body, DemoEvent::Begin { trusted, prompt: invocation.prompt.clone() });
    let closed = desk.window.close();
    match ended.and_then(|ending| closed.map(|()| ending)) {
        Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
            Ok(DemoEnding::Clean(0))
        }
        ended => ended,
    }
}

fn welcome(invocation: &Invocation, id: &str, heard: usize) -> String {
    let resumed = (heard > 0).then(|| format!("resumed after {}", counted(heard, "message")));
    let model = invocation.model.as_ref().map(|model| format!("model: {model}"));
    let instructions = invocation.instructions.as_ref().map(|text| format!("instructions: {text}"));
    let mut lines = vec![format!("demo agent {}, conversation {id}", env!("CARGO_PKG_VERSION"))];
    lines.extend([resumed, model, instructions].into_iter().flatten());
    lines.push("/help shows what it can be told".to_owned());
    lines.join("\n")
}

struct Desk<'a> {
    terminal: &'a DemoTerminal,
    engine: Engine,
    window: DemoWindow<Stdout>,
    signals: SignalSockets,
    editor: Editor,
    keys: KeyReader,
    escape_until: Option<Instant>,
}

impl Desk<'_> {
    fn run(&mut self, body: &mut DemoBody<'_>, begin: DemoEvent) -> io::Result<DemoEnding> {
        let mut ended = self.tell(body, begin)?;
        loop {
            if let Some(ending) = ended {
                return Ok(ending);
            }
            self.window.draw(self.engine.dialog(), &self.editor)?;
            let deadline = body.deadline.into_iter().chain(self.escape_until).min();
            let input = (!body.is_deaf).then(|| self.terminal.input());
            for wake in self.signals.wait(input, &body.tool_outputs(), deadline)? {
                ended = self.wake(body, wake)?;
                if ended.is_some() {
                    break;
                }
            }
        }
    }

    fn tell(
        &mut self,
        body: &mut DemoBody<'_>,
        event: DemoEvent,
    ) -> io::Result<Option<DemoEnding>> {
        body.live(&mut self.engine, &mut self.window, event)
    }

    fn wake(&mut self, body: &mut DemoBody<'_>, wake: DemoWake) -> io::Result<Option<DemoEnding>> {
        match wake {
            DemoWake::Stop => Ok(Some(DemoEnding::Clean(0))),
            DemoWake::Resized => {
                self.window.resize(self.terminal.size());
                Ok(None)
            }
            DemoWake::Input => self.read(body),
            DemoWake::Tool(number) => match body.hear_tool(number)? {
                Some(event) => self.tell(body, event),
                None => Ok(None),
            },
            DemoWake::Deadline => self.pass_deadline(body),
        }
    }

    fn read(&mut self, body: &mut DemoBody<'_>) -> io::Result<Option<DemoEnding>> {
        let bytes = self.terminal.read()?;
        if bytes.is_empty() {
            return Ok(Some(DemoEnding::Clean(0)));
        }
        let keys = self.keys.feed(&bytes);
        self.escape_until = self.keys.is_waiting().then(|| Instant::now() + ESCAPE_WAIT);
        self.press(body, keys)
    }

    fn pass_deadline(&mut self, body: &mut DemoBody<'_>) -> io::Result<Option<DemoEnding>> {
        let now = Instant::now();
        let is_over = |deadline: &mut Instant| *deadline <= now;
        if self.escape_until.take_if(is_over).is_some() {
            let keys = self.keys.give_up();
            if let Some(ending) = self.press(body, keys)? {
                return Ok(Some(ending));
            }
        }
        match body.deadline.take_if(is_over) {
            Some(_) => self.tell(body, DemoEvent::Tick),
            None => Ok(None),
        }
    }

    fn press(
        &mut self,
        body: &mut DemoBody<'_>,
        keys: Vec<DemoKey>,
    ) -> io::Result<Option<DemoEnding>> {
        for key in keys {
            match meaning(key, &self.engine, &mut self.editor) {
                DemoKeyMeaning::Nothing => {}
                DemoKeyMeaning::Leave => return Ok(Some(DemoEnding::Clean(0))),
                DemoKeyMeaning::Mouse(report) => self.window.notice(format!("mouse {report}"))?,
                DemoKeyMeaning::Event(event) => {
                    if let Some(ending) = self.tell(body, event)? {
                        return Ok(Some(ending));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// What a key means to the demo agent.
#[derive(Debug, PartialEq, Eq)]
enum DemoKeyMeaning {
    Nothing,
    Event(DemoEvent),
    Mouse(String),
    Leave,
}

/// Returns what a key means in the current state. A dialog accepts no typed text: a paste is lost,
/// and the Enter after it answers yes, as it does in real agents.
fn meaning(key: DemoKey, engine: &Engine, editor: &mut Editor) -> DemoKeyMeaning {
    if let Some(dialog) = engine.dialog() {
        return answer(&key, &dialog);
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

fn answer(key: &DemoKey, dialog: &DemoDialog) -> DemoKeyMeaning {
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

    use super::super::arguments::DemoMode;
    use super::*;

    fn engine(told: &str) -> Engine {
        let mut engine = Engine::new(Memory::default(), Permission::Ask, DemoMode::Interactive);
        engine.handle(DemoEvent::Message(told.to_owned()));
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
        assert_eq!(meaning(DemoKey::Enter, &engine("hi"), &mut editor), sent);
        assert_eq!(meaning(DemoKey::Enter, &engine("hi"), &mut editor), DemoKeyMeaning::Nothing);
    }

    #[test]
    fn control_c_interrupts_a_turn_and_otherwise_clears_the_draft() {
        let mut editor = typed("draft");
        let interrupt = DemoKeyMeaning::Event(DemoEvent::Interrupt);
        assert_eq!(meaning(DemoKey::Control('c'), &engine("/hang"), &mut editor), interrupt);
        assert!(!editor.is_empty());
        assert_eq!(
            meaning(DemoKey::Control('c'), &engine("hi"), &mut editor),
            DemoKeyMeaning::Nothing
        );
        assert!(editor.is_empty());
    }

    #[test]
    fn control_d_leaves_only_if_the_draft_is_empty() {
        let mut editor = typed("draft");
        assert_eq!(
            meaning(DemoKey::Control('d'), &engine("hi"), &mut editor),
            DemoKeyMeaning::Nothing
        );
        editor.clear();
        assert_eq!(
            meaning(DemoKey::Control('d'), &engine("hi"), &mut editor),
            DemoKeyMeaning::Leave
        );
    }

    #[test]
    fn dialog_accepts_its_keys_and_ignores_all_others() {
        let asking = engine("/ask");
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
            assert_eq!(meaning(key.clone(), &asking, &mut editor), *wanted, "{key:?}");
        }
        assert!(editor.is_empty());
    }
}
