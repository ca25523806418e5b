//! The agent in a terminal: turns keys into events until the agent ends.

use std::io::{self, Stdout};
use std::time::Instant;

use rustix::io::Errno;
use segue_core::rules::display::counted;

use super::arguments::Invocation;
use super::body::{Body, Ending};
use super::editor::Editor;
use super::effect::{Dialog, Event};
use super::engine::Engine;
use super::keys::{ESCAPE_WAIT, Key, KeyReader};
use super::memory::Memory;
use super::presence;
use super::terminal::Terminal;
use super::wait::{Signals, Wake};
use super::window::Window;

/// Runs until the person leaves, a signal arrives, or the terminal is gone.
///
/// A SIGTERM ends with exit code 0, which looks like a person who left: a known trap of real
/// agents.
pub(super) fn live(
    invocation: &Invocation,
    body: &mut Body<'_>,
    memory: Memory,
    signals: Signals,
    terminal: &Terminal,
) -> io::Result<Ending> {
    let mut window = Window::open(io::stdout(), terminal.size())?;
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
    let ended = desk.run(body, Event::Begin { trusted, prompt: invocation.prompt.clone() });
    let closed = desk.window.close();
    match ended.and_then(|ending| closed.map(|()| ending)) {
        Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
            Ok(Ending::Clean(0))
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
    terminal: &'a Terminal,
    engine: Engine,
    window: Window<Stdout>,
    signals: Signals,
    editor: Editor,
    keys: KeyReader,
    escape_until: Option<Instant>,
}

impl Desk<'_> {
    fn run(&mut self, body: &mut Body<'_>, begin: Event) -> io::Result<Ending> {
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

    fn tell(&mut self, body: &mut Body<'_>, event: Event) -> io::Result<Option<Ending>> {
        body.live(&mut self.engine, &mut self.window, event)
    }

    fn wake(&mut self, body: &mut Body<'_>, wake: Wake) -> io::Result<Option<Ending>> {
        match wake {
            Wake::Stop => Ok(Some(Ending::Clean(0))),
            Wake::Resized => {
                self.window.resize(self.terminal.size());
                Ok(None)
            }
            Wake::Input => self.read(body),
            Wake::Tool(number) => match body.hear_tool(number)? {
                Some(event) => self.tell(body, event),
                None => Ok(None),
            },
            Wake::Deadline => self.pass_deadline(body),
        }
    }

    fn read(&mut self, body: &mut Body<'_>) -> io::Result<Option<Ending>> {
        let bytes = self.terminal.read()?;
        if bytes.is_empty() {
            return Ok(Some(Ending::Clean(0)));
        }
        let keys = self.keys.feed(&bytes);
        self.escape_until = self.keys.is_waiting().then(|| Instant::now() + ESCAPE_WAIT);
        self.press(body, keys)
    }

    fn pass_deadline(&mut self, body: &mut Body<'_>) -> io::Result<Option<Ending>> {
        let now = Instant::now();
        let is_over = |deadline: &mut Instant| *deadline <= now;
        if self.escape_until.take_if(is_over).is_some() {
            let keys = self.keys.give_up();
            if let Some(ending) = self.press(body, keys)? {
                return Ok(Some(ending));
            }
        }
        match body.deadline.take_if(is_over) {
            Some(_) => self.tell(body, Event::Tick),
            None => Ok(None),
        }
    }

    fn press(&mut self, body: &mut Body<'_>, keys: Vec<Key>) -> io::Result<Option<Ending>> {
        for key in keys {
            match meaning(key, &self.engine, &mut self.editor) {
                Meaning::Nothing => {}
                Meaning::Leave => return Ok(Some(Ending::Clean(0))),
                Meaning::Mouse(report) => self.window.notice(format!("mouse {report}"))?,
                Meaning::Event(event) => {
                    if let Some(ending) = self.tell(body, event)? {
                        return Ok(Some(ending));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// The result of a key.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    Nothing,
    Event(Event),
    Mouse(String),
    Leave,
}

/// Returns what a key means in the current state. A dialog accepts no typed text: a paste is lost,
/// and the Enter after it answers yes, as it does in real agents.
fn meaning(key: Key, engine: &Engine, editor: &mut Editor) -> Meaning {
    if let Some(dialog) = engine.dialog() {
        return answer(&key, &dialog);
    }
    match key {
        Key::Control('c') | Key::Escape if !engine.is_resting() => Meaning::Event(Event::Interrupt),
        Key::Control('c') => {
            editor.clear();
            Meaning::Nothing
        }
        Key::Control('d') if editor.is_empty() => Meaning::Leave,
        Key::Mouse(report) => Meaning::Mouse(report),
        Key::Enter => {
            let draft = editor.take();
            if draft.trim().is_empty() {
                Meaning::Nothing
            } else {
                Meaning::Event(Event::Message(draft))
            }
        }
        key => {
            editor.press(&key);
            Meaning::Nothing
        }
    }
}

fn answer(key: &Key, dialog: &Dialog) -> Meaning {
    let choice = match key {
        Key::Enter | Key::Char('y') => Some(0),
        Key::Escape | Key::Char('n') | Key::Control('c') => None,
        Key::Control('d') => return Meaning::Leave,
        Key::Char(digit) => match digit.to_digit(10) {
            Some(number) if (1..=dialog.choices.len()).contains(&(number as usize)) => {
                Some(number as usize - 1)
            }
            _ => return Meaning::Nothing,
        },
        _ => return Meaning::Nothing,
    };
    Meaning::Event(Event::Choice(choice))
}

#[cfg(test)]
mod tests {
    use segue_core::model::Permission;

    use super::super::arguments::Mode;
    use super::*;

    fn engine(told: &str) -> Engine {
        let mut engine = Engine::new(Memory::default(), Permission::Ask, Mode::Interactive);
        engine.handle(Event::Message(told.to_owned()));
        engine
    }

    fn typed(text: &str) -> Editor {
        let mut editor = Editor::default();
        editor.press(&Key::Paste(text.to_owned()));
        editor
    }

    #[test]
    fn enter_sends_the_whole_draft_and_ignores_an_empty_one() {
        let mut editor = typed("two\nlines ");
        let sent = Meaning::Event(Event::Message("two\nlines ".into()));
        assert_eq!(meaning(Key::Enter, &engine("hi"), &mut editor), sent);
        assert_eq!(meaning(Key::Enter, &engine("hi"), &mut editor), Meaning::Nothing);
    }

    #[test]
    fn control_c_interrupts_a_turn_and_otherwise_clears_the_draft() {
        let mut editor = typed("draft");
        let interrupt = Meaning::Event(Event::Interrupt);
        assert_eq!(meaning(Key::Control('c'), &engine("/hang"), &mut editor), interrupt);
        assert!(!editor.is_empty());
        assert_eq!(meaning(Key::Control('c'), &engine("hi"), &mut editor), Meaning::Nothing);
        assert!(editor.is_empty());
    }

    #[test]
    fn control_d_leaves_only_if_the_draft_is_empty() {
        let mut editor = typed("draft");
        assert_eq!(meaning(Key::Control('d'), &engine("hi"), &mut editor), Meaning::Nothing);
        editor.clear();
        assert_eq!(meaning(Key::Control('d'), &engine("hi"), &mut editor), Meaning::Leave);
    }

    #[test]
    fn dialog_accepts_its_keys_and_ignores_all_others() {
        let asking = engine("/ask");
        let mut editor = Editor::default();
        let yes = Meaning::Event(Event::Choice(Some(0)));
        let no = Meaning::Event(Event::Choice(None));
        let table = [
            (Key::Char('1'), &yes),
            (Key::Char('y'), &yes),
            (Key::Enter, &yes),
            (Key::Char('2'), &Meaning::Event(Event::Choice(Some(1)))),
            (Key::Char('n'), &no),
            (Key::Escape, &no),
            (Key::Char('3'), &Meaning::Nothing),
            (Key::Char('x'), &Meaning::Nothing),
            (Key::Paste("y".into()), &Meaning::Nothing),
        ];
        for (key, wanted) in table {
            assert_eq!(meaning(key.clone(), &asking, &mut editor), *wanted, "{key:?}");
        }
        assert!(editor.is_empty());
    }
}
