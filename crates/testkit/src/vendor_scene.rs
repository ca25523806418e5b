//! Runs sessions of one pinned vendor's program, for tests that several vendors share.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::acting::Acting;
use crate::conversation::records;
use crate::model::{Exchange, Model};
use crate::scene::text;
use crate::vendors::{
    ClaudeHome, CodexHome, CopilotHome, GeminiHome, OpencodeHome, PiHome, with_claude, with_codex,
    with_copilot, with_gemini, with_opencode, with_pi,
};
use crate::world::World;
use crate::{files, launches};

/// A vendor whose program is pinned for tests: how it is installed, and the facts about it that the
/// tests of several vendors need.
pub trait PinnedVendor: Sized {
    /// The vendor's id, which is also the name of its program.
    const NAME: &'static str;

    /// The arguments that every `segue run` starts with.
    const RUN: &'static [&'static str];

    /// The folder below the user's home that contains the vendor's files.
    const CONFIG_DIR: &'static str;

    /// The folder below `CONFIG_DIR` that contains all transcripts.
    const TRANSCRIPTS: &'static str;

    /// Whether a request to the model has the vendor's session id.
    const REQUESTS_HAVE_ID: bool = false;

    /// Returns whether a record of a transcript is the end of a turn. `None` if the vendor records
    /// the end of a turn before it reports the end, so that no test has to wait for the record.
    const IS_TURN_END: Option<fn(&Value) -> bool> = None;

    /// Installs the program in a world. It asks no question at its first start.
    fn install(world: &mut World, model: &Model) -> Self;

    /// Disables the program's own retries of failed requests.
    fn disable_retries(&self) {}
}

impl PinnedVendor for ClaudeHome {
    const NAME: &'static str = "claude";
    const RUN: &'static [&'static str] = &["--vendor", "claude", "--permission", "auto"];
    const CONFIG_DIR: &'static str = ".claude";
    const TRANSCRIPTS: &'static str = "projects";
    const REQUESTS_HAVE_ID: bool = true;
    const IS_TURN_END: Option<fn(&Value) -> bool> = Some(|record| {
        record["type"] == "assistant" && record["message"]["stop_reason"] == "end_turn"
    });

    fn install(world: &mut World, model: &Model) -> Self {
        // The tests may run as root. Without this variable Claude Code does not let root skip its
        // permission questions.
        world.set("IS_SANDBOX", "1");
        with_claude(world, model)
    }
}

impl PinnedVendor for CodexHome {
    const NAME: &'static str = "codex";
    const RUN: &'static [&'static str] = &["--vendor", "codex", "--permission", "auto"];
    const CONFIG_DIR: &'static str = ".codex";
    const TRANSCRIPTS: &'static str = "sessions";
    const REQUESTS_HAVE_ID: bool = true;

    fn install(world: &mut World, model: &Model) -> Self {
        with_codex(world, model)
    }
}

impl PinnedVendor for CopilotHome {
    const NAME: &'static str = "copilot";
    const RUN: &'static [&'static str] = &["--vendor", "copilot", "--permission", "auto"];
    const CONFIG_DIR: &'static str = ".copilot";
    const TRANSCRIPTS: &'static str = "session-state";

    fn install(world: &mut World, model: &Model) -> Self {
        with_copilot(world, model)
    }
}

impl PinnedVendor for GeminiHome {
    const NAME: &'static str = "gemini";
    const RUN: &'static [&'static str] = &["--vendor", "gemini", "--permission", "auto"];
    const CONFIG_DIR: &'static str = ".gemini";
    const TRANSCRIPTS: &'static str = "tmp";

    fn install(world: &mut World, model: &Model) -> Self {
        with_gemini(world, model)
    }
}

/// The conversations of `OpenCode` are in a database, so `transcript` finds none of them.
impl PinnedVendor for OpencodeHome {
    const NAME: &'static str = "opencode";
    const RUN: &'static [&'static str] = &["--vendor", "opencode"];
    const CONFIG_DIR: &'static str = ".local/share/opencode";
    const TRANSCRIPTS: &'static str = "";
    const REQUESTS_HAVE_ID: bool = true;

    fn install(world: &mut World, model: &Model) -> Self {
        with_opencode(world, model)
    }
}

/// Pi has no permissions.
impl PinnedVendor for PiHome {
    const NAME: &'static str = "pi";
    const RUN: &'static [&'static str] = &["--vendor", "pi"];
    const CONFIG_DIR: &'static str = ".pi/agent";
    const TRANSCRIPTS: &'static str = "sessions";

    fn install(world: &mut World, model: &Model) -> Self {
        with_pi(world, model)
    }

    /// Each retry would wait twice as long as the one before.
    fn disable_retries(&self) {
        self.change(|settings| settings["retry"] = json!({"enabled": false}));
    }
}

/// A world with one vendor's pinned program, and the scripted model that it talks to.
#[derive(Debug)]
pub struct VendorScene<V> {
    acting: Acting,
    pub home: V,
}

impl<V: PinnedVendor> VendorScene<V> {
    /// Creates a world for the `segue` program at this path, and installs the vendor's program.
    pub fn new(segue: &str) -> Self {
        let mut acting = Acting::new(segue, V::RUN);
        let home = V::install(&mut acting.world, &acting.model);
        Self { acting, home }
    }

    /// Starts an interactive session. Waits until its first turn is over and recorded.
    pub fn start_and_wait(&self, name: &str, message: &str) -> Value {
        self.start(name, message);
        self.wait_first_turn(name, message)
    }

    /// Waits until the first turn of a session, with this message, is over and recorded, and until
    /// the daemon has guarded the transcript.
    pub fn wait_first_turn(&self, name: &str, message: &str) -> Value {
        self.model.wait_answered(message);
        self.wait_has_content(name);
        self.wait_turns(name, 1)
    }

    /// Waits until the transcript has the ends of at least this many turns, and the session is
    /// idle.
    pub fn wait_turns(&self, name: &str, count: usize) -> Value {
        if let Some(is_turn_end) = V::IS_TURN_END {
            let path = self.transcript(&self.world.session(name));
            let has_all = || records(&path).iter().filter(|it| is_turn_end(it)).count() >= count;
            let folder = path.parent().expect("a folder");
            launches::wait_until(&[folder], "the end of a turn is recorded", has_all);
        }
        self.wait_idle(name)
    }

    /// Sends a message and asserts that its request has exactly these user messages, the earlier
    /// ones, then `message`, and that it belongs to the session's conversation.
    pub fn assert_carries(&self, name: &str, earlier: &[&str], message: &str) -> Exchange {
        let exchange = self.acting.assert_carries(name, earlier, message);
        if V::REQUESTS_HAVE_ID {
            let id = self.world.session(name)["vendor_session_id"].clone();
            assert_eq!(exchange.session.as_deref(), id.as_str());
        }
        exchange
    }

    /// Sends a message and asserts that its request has exactly these user messages, whatever
    /// conversation it belongs to.
    pub fn assert_user_texts(&self, name: &str, earlier: &[&str], message: &str) {
        self.acting.assert_carries(name, earlier, message);
    }

    /// Returns all transcripts in the default config dir.
    pub fn transcripts(&self) -> Vec<PathBuf> {
        let folder = self.world.home().join(V::CONFIG_DIR).join(V::TRANSCRIPTS);
        let mut found = files::below(&folder);
        found.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        found.sort();
        found
    }

    /// Returns the path of a session's transcript: the file whose name, or whose folder's name,
    /// has the vendor's session id.
    ///
    /// # Panics
    ///
    /// If there is no such file.
    pub fn transcript(&self, session: &Value) -> PathBuf {
        let id = text(session, "vendor_session_id");
        let all = self.transcripts();
        let has_id =
            |path: &Path| path.file_name().is_some_and(|it| it.to_string_lossy().contains(id));
        let is_own = |path: &&PathBuf| has_id(path) || path.parent().is_some_and(has_id);
        let own = all.iter().find(|path| has_id(path)).or_else(|| all.iter().find(is_own));
        own.unwrap_or_else(|| panic!("no transcript of {id} in {all:?}")).clone()
    }
}

impl<V> Deref for VendorScene<V> {
    type Target = Acting;

    fn deref(&self) -> &Acting {
        &self.acting
    }
}

impl<V> DerefMut for VendorScene<V> {
    fn deref_mut(&mut self) -> &mut Acting {
        &mut self.acting
    }
}
