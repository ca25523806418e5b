//! The user's terminal: raw mode and the alternate screen, and how both are left whatever happens.

use std::io::{Stdout, Write as _, stdout};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use segue_core::model::TerminalSize;
use segue_core::{Error, Result};

/// Switches to the alternate screen, saves the title, reports clicks and the wheel, and marks pasted
/// text. Movements of the mouse are not reported: they would wake the UI for nothing.
const ENTER: &str = "\x1b[?1049h\x1b[22;0t\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[?25l\x1b[2J";
/// Undoes [`ENTER`].
const LEAVE: &str = "\x1b[m\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[?25h\x1b[23;0t\x1b[?1049l";

/// Whether the terminal shows the UI now.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);
static PANIC_HOOK: Once = Once::new();

/// The terminal while it shows the UI. Dropping it restores the terminal.
pub(super) struct UiTerminal {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl UiTerminal {
    pub(super) fn enter() -> Result<Self> {
        PANIC_HOOK.call_once(restore_before_panic_message);
        enter()?;
        let backend = CrosstermBackend::new(stdout());
        let viewport = Viewport::Fullscreen;
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport });
        match terminal {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                leave();
                Err(unusable(error))
            }
        }
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<()> {
        self.terminal.draw(draw).map(drop).map_err(unusable)
    }

    /// Makes the next frame draw everything.
    pub(super) fn clear(&mut self) -> Result<()> {
        let TerminalSize { rows, cols } = current_size();
        self.terminal.resize(Rect::new(0, 0, cols, rows)).map_err(unusable)
    }

    pub(super) fn enter_again(&mut self) -> Result<()> {
        enter()?;
        self.clear()
    }
}

impl Drop for UiTerminal {
    fn drop(&mut self) {
        leave();
    }
}

/// Returns the size of the terminal.
pub(super) fn current_size() -> TerminalSize {
    let (cols, rows) = size().unwrap_or((80, 24));
    TerminalSize { rows, cols }
}

fn enter() -> Result<()> {
    enable_raw_mode().map_err(unusable)?;
    IS_ENTERED.store(true, Ordering::SeqCst);
    write(ENTER);
    Ok(())
}

/// Restores the terminal. Does nothing if it is restored already.
pub(super) fn leave() {
    if IS_ENTERED.swap(false, Ordering::SeqCst) {
        write(LEAVE);
        // It fails only if the terminal is gone.
        let _restored = disable_raw_mode();
    }
}

fn write(text: &str) {
    let mut output = stdout();
    // A terminal that is gone shows nothing.
    let _written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

/// Restores the terminal before the message of a panic is printed.
fn restore_before_panic_message() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        HAS_PANICKED.store(true, Ordering::SeqCst);
        leave();
        print(info);
    }));
}

/// Ends the UI if a task of it has panicked: the terminal was restored then.
pub(super) fn check_panic() -> Result<()> {
    if HAS_PANICKED.load(Ordering::SeqCst) {
        return Err(Error::internal("the screen failed; agents continue to run")
            .hint("run `segue status` to see them"));
    }
    Ok(())
}

fn unusable(error: std::io::Error) -> Error {
    Error::unavailable("cannot use this terminal").caused_by(error)
}
