//! The code under test, and the checks that must pass for every input.

mod clip;
mod databases;
mod deliveries;
mod rules;
mod transcripts;
mod turns;
mod written;

use std::path::Path;

/// A named reader of foreign data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FuzzTarget {
    name: &'static str,
    reader: Reader,
}

#[derive(Clone, Copy, Debug)]
enum Reader {
    /// A vendor's transcript, with one record per line.
    Lines(&'static str),
    /// A vendor's transcript that is one JSON document, and the name of its file.
    Document(&'static str, &'static str),
    /// A vendor's database. The input is the SQL script that creates it.
    Rows(&'static str),
    /// A vendor's database. The input is the content of the database file.
    Database(&'static str),
    /// A transcript that Segue writes in a vendor's format. The input is a list of turns.
    Written(&'static str),
    /// The transcript of a custom vendor, in any format.
    Described,
    /// The body of a delivery of a forge.
    Delivery(&'static str),
    Clip,
    Redaction,
    Cleaner,
    Digest,
}

const fn target(name: &'static str, reader: Reader) -> FuzzTarget {
    FuzzTarget { name, reader }
}

impl FuzzTarget {
    pub(crate) const ALL: [Self; 28] = [
        target("claude", Reader::Lines("claude")),
        target("codex", Reader::Lines("codex")),
        target("copilot", Reader::Lines("copilot")),
        target("cursor", Reader::Lines("cursor")),
        target("demo", Reader::Lines("demo")),
        target("gemini", Reader::Lines("gemini")),
        target("gemini-document", Reader::Document("gemini", "session.json")),
        target("openclaw-rows", Reader::Rows("openclaw")),
        target("openclaw-database", Reader::Database("openclaw")),
        target("opencode-document", Reader::Document("opencode", "import.json")),
        target("opencode-rows", Reader::Rows("opencode")),
        target("opencode-database", Reader::Database("opencode")),
        target("pi", Reader::Lines("pi")),
        target("described", Reader::Described),
        target("delivery-forgejo", Reader::Delivery("forgejo")),
        target("delivery-gitea", Reader::Delivery("gitea")),
        target("delivery-github", Reader::Delivery("github")),
        target("delivery-gitlab", Reader::Delivery("gitlab")),
        target("clip", Reader::Clip),
        target("redaction", Reader::Redaction),
        target("cleaner", Reader::Cleaner),
        target("digest", Reader::Digest),
        target("written-claude", Reader::Written("claude")),
        target("written-codex", Reader::Written("codex")),
        target("written-copilot", Reader::Written("copilot")),
        target("written-gemini", Reader::Written("gemini")),
        target("written-opencode", Reader::Written("opencode")),
        target("written-pi", Reader::Written("pi")),
    ];

    pub(crate) fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|target| target.name).collect()
    }

    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name == name)
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::find(name).unwrap_or_else(|| panic!("there is no target {name}"))
    }

    pub(crate) fn name(self) -> &'static str {
        self.name
    }

    /// Returns `true` if the reader keeps only a few lines in memory at a time.
    pub(crate) fn is_of_lines(self) -> bool {
        matches!(self.reader, Reader::Lines(_))
    }

    /// Returns the inputs from which the target's cases are made.
    pub(crate) fn samples(self) -> Vec<Vec<u8>> {
        match self.reader {
            Reader::Lines(vendor) => transcripts::samples(vendor),
            Reader::Document(vendor, _) => transcripts::documents(vendor),
            Reader::Rows(vendor) => databases::scripts(vendor),
            Reader::Database(vendor) => databases::files(vendor),
            Reader::Described => transcripts::of_all_vendors(),
            Reader::Delivery(forge) => deliveries::samples(forge),
            Reader::Clip => clip::samples(),
            Reader::Redaction => rules::texts(),
            Reader::Cleaner | Reader::Digest | Reader::Written(_) => turns::samples(),
        }
    }

    /// Runs one case. Panics if a check fails.
    pub(crate) fn check(self, bytes: &[u8], folder: &Path) {
        match self.reader {
            Reader::Lines(vendor) => transcripts::check(vendor, bytes, folder),
            Reader::Document(vendor, name) => {
                transcripts::check_document(vendor, bytes, &folder.join(name));
            }
            Reader::Rows(vendor) => databases::check_script(vendor, bytes, folder),
            Reader::Database(vendor) => databases::check_file(vendor, bytes, folder),
            Reader::Described => transcripts::check_described(bytes, folder),
            Reader::Delivery(forge) => deliveries::check(forge, bytes),
            Reader::Clip => clip::check(bytes, folder),
            Reader::Redaction => rules::check_redaction(&String::from_utf8_lossy(bytes)),
            Reader::Cleaner => rules::check_cleaner(turns::read(bytes)),
            Reader::Digest => rules::check_digest(turns::read(bytes)),
            Reader::Written(vendor) => written::check(vendor, turns::read(bytes), folder),
        }
    }
}
