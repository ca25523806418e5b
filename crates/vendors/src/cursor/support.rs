//! How well Cursor is supported.

use segue_core::ports::{Proof, Support};

pub(super) const SUPPORT: Support = Support {
    title: "Cursor",
    proof: Proof::Recordings,
    tried: &[],
    install: "curl https://cursor.com/install -fsS | bash",
    notes: &[
        "its program was never tried: everything rests on public descriptions of versions of July to September 2026",
        "headless: the id is what its output says; a resume that comes up in another conversation is refused, and so is one whose database is gone",
        "interactive: the id is known only once a hook of a plugin, given with `--plugin-dir`, has told it; a resume of which no hook tells is reported as not shown, never as done",
        "nothing is typed into an interactive session: how its screen looks is not known, so messages to it wait",
        "a turn that is cut off is said to be lost from the conversation: what is told to go on may not know with what",
        "instructions are given as a rule of the plugin; that Cursor follows them there was not tried",
        "with `CURSOR_DATA_DIR`, or a config dir that is not `~/.cursor`, its transcripts are elsewhere and are not read",
    ],
};
