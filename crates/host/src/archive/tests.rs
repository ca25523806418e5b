use std::os::unix::fs::MetadataExt as _;

use jiff::Timestamp;
use segue_core::Kind;
use segue_core::model::{Environment, VendorId, VendorSessionId};
use segue_core::ports::Place;
use tempfile::TempDir;

use super::*;

/// A vendor's folder, and an archive beside it.
struct ArchiveFixture {
    temp: TempDir,
    archive: DiskArchive,
}

impl ArchiveFixture {
    fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let archive = archive_in(temp.path());
        fs::create_dir(temp.path().join("home")).unwrap();
        Self { temp, archive }
    }

    fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    fn transcript(&self) -> PathBuf {
        self.home().join("a.jsonl")
    }

    fn order(&self) -> ArchiveOrder {
        ArchiveOrder {
            conversation: key("a"),
            place: Place { config_dir: self.home(), cwd: "/w".into() },
            content: Content::Transcript(self.transcript()),
            companion_folder: Some(self.home().join("a")),
            ancestors: Vec::new(),
            now: Timestamp::UNIX_EPOCH,
        }
    }

    fn write(&self, text: &[u8]) -> u64 {
        fs::write(self.transcript(), text).unwrap();
        self.archive.copy(&self.order()).unwrap()
    }

    fn restore(&self) -> Result<()> {
        self.archive.restore(&RestoreOrder {
            conversation: key("a"),
            transcript: Some(self.transcript()),
            companion_folder: Some(self.home().join("a")),
            config_dir: self.home(),
        })
    }

    /// Deletes all files of the vendor, restores them, and returns the transcript.
    fn lost_and_restored(&self) -> Vec<u8> {
        fs::remove_dir_all(self.home()).unwrap();
        self.restore().unwrap();
        fs::read(self.transcript()).unwrap()
    }

    fn manifest(&self) -> Manifest {
        self.archive.read(&key("a")).unwrap().1
    }

    fn folder(&self) -> PathBuf {
        self.archive.folder(&key("a"))
    }

    fn copies(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder()).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|it| it == "zst")).collect()
    }
}

fn archive_in(folder: &Path) -> DiskArchive {
    let home = folder.join("segue").to_str().unwrap().to_owned();
    let environment = Environment::new([("SEGUE_HOME".to_owned(), home)]);
    DiskArchive::new(&Paths::from_environment(&environment).unwrap())
}

fn key(id: &str) -> Archived {
    Archived { vendor: VendorId::new("tool"), id: VendorSessionId::new(id) }
}

/// Returns distinct lines that do not compress well.
fn lines(from: u64, to: u64) -> Vec<u8> {
    let line = |number: u64| format!("{{\"id\":{:x}}}\n", fingerprint(&number.to_le_bytes()));
    (from..to).flat_map(|number| line(number).into_bytes()).collect()
}

#[test]
fn keep_copies_only_new_bytes_and_restore_returns_all_of_them() {
    let fixture = ArchiveFixture::new();
    let mut whole = lines(0, 2000);
    assert_eq!(fixture.write(&whole), whole.len() as u64);
    assert_eq!(fixture.write(&whole), 0, "bytes were copied again");
    let before = fixture.manifest().streams[0].stored;
    for number in 0..50 {
        let more = lines(10_000 + number, 10_001 + number);
        whole.extend(&more);
        assert_eq!(fixture.write(&whole), more.len() as u64);
    }
    let [stream] = &fixture.manifest().streams[..] else { panic!("not exactly one copy") };
    assert!(stream.stored - before < 50 * 100, "old lines were copied again");
    assert_eq!(fixture.copies().len(), 1);
    assert_eq!(fixture.lost_and_restored(), whole);
    assert_eq!(fixture.archive.size().unwrap(), stream.stored);
}

#[test]
fn interrupted_write_behind_the_recorded_length_is_ignored() {
    let fixture = ArchiveFixture::new();
    fixture.write(b"one\n");
    let copy = fixture.copies().remove(0);
    let torn = [fs::read(&copy).unwrap(), b"(\xb5/\xfd torn".to_vec()].concat();
    fs::write(&copy, &torn).unwrap();
    assert!(fixture.archive.has(&key("a")));
    assert_eq!(fixture.lost_and_restored(), b"one\n", "bytes that are not recorded were restored");
    assert_eq!(fixture.write(b"one\ntwo\n"), 4);
    assert_eq!(fixture.lost_and_restored(), b"one\ntwo\n");
    assert_eq!(fixture.manifest().streams.len(), 1);
}

#[test]
fn damaged_copy_is_not_restored_and_is_replaced_by_a_new_one() {
    let fixture = ArchiveFixture::new();
    fixture.write(&lines(0, 100));
    let copy = fixture.copies().remove(0);
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&copy, &bytes).unwrap();
    fs::remove_file(fixture.transcript()).unwrap();
    assert!(fixture.restore().is_err());
    assert!(!fixture.transcript().exists(), "half a transcript");
    assert_eq!(fs::read_dir(fixture.home()).unwrap().count(), 0, "leftover files");
    fs::write(&copy, &bytes[..middle]).unwrap();
    assert!(!fixture.archive.has(&key("a")));
    let whole = lines(0, 101);
    assert_eq!(fixture.write(&whole), whole.len() as u64);
    assert_eq!(fixture.lost_and_restored(), whole);
}

#[test]
fn flipped_bit_anywhere_in_a_copy_is_found_and_the_copy_set_aside_is_not_deleted() {
    let fixture = ArchiveFixture::new();
    fixture.write(&lines(0, 100));
    fixture.write(&lines(0, 200));
    assert_eq!(fixture.archive.damaged(&[]).unwrap(), []);
    let copy = fixture.copies().remove(0);
    let whole = fs::read(&copy).unwrap();
    for place in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        fs::write(&copy, &bytes).unwrap();
        let found = fixture.archive.damaged(&[]).unwrap();
        assert_eq!(found.len(), 1, "byte {place}");
        assert_eq!(found[0].conversation, Some(key("a")), "byte {place}");
    }
    let found = fixture.archive.damaged(&[]).unwrap().remove(0);
    let aside = fixture.archive.set_aside(&found).unwrap();
    assert!(fs::read_dir(aside).unwrap().count() >= 2, "the copy or its record was deleted");
    assert_eq!(fixture.archive.damaged(&[]).unwrap(), []);
    assert_eq!(fixture.archive.copy(&fixture.order()).unwrap(), lines(0, 200).len() as u64);
}

#[test]
fn named_pipe_in_the_place_of_a_copy_is_damage_and_does_not_block() {
    let fixture = ArchiveFixture::new();
    fixture.write(&lines(0, 100));
    let copy = fixture.copies().remove(0);
    fs::remove_file(&copy).unwrap();
    let rights = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &copy, rustix::fs::FileType::Fifo, rights, 0).unwrap();
    let found = fixture.archive.damaged(&[]).unwrap();
    assert!(found[0].why.contains("not a regular file"), "{found:?}");
    assert!(fixture.restore().is_err());
}

#[test]
fn set_aside_refuses_a_copy_that_is_intact_again() {
    let fixture = ArchiveFixture::new();
    fixture.write(&lines(0, 100));
    let copy = fixture.copies().remove(0);
    let whole = fs::read(&copy).unwrap();
    fs::write(&copy, b"damaged").unwrap();
    let found = fixture.archive.damaged(&[]).unwrap().remove(0);
    fs::write(&copy, &whole).unwrap();
    let refused = fixture.archive.set_aside(&found).unwrap_err();
    assert!(refused.to_string().contains("is intact by now"), "{refused}");
    assert!(copy.exists());
}

#[test]
fn damaged_record_is_found_with_the_conversation_that_it_belongs_to() {
    let fixture = ArchiveFixture::new();
    fixture.write(b"one\n");
    fs::write(fixture.folder().join("manifest.json"), "{").unwrap();
    let of = |known: &[Archived]| fixture.archive.damaged(known).unwrap().remove(0).conversation;
    assert_eq!(of(&[key("b")]), None);
    assert_eq!(of(&[key("b"), key("a")]), Some(key("a")));
}

#[test]
fn damaged_record_is_set_aside_and_a_new_copy_begins() {
    let fixture = ArchiveFixture::new();
    fixture.write(b"one\n");
    fs::write(fixture.folder().join("manifest.json"), "{").unwrap();
    assert!(!fixture.archive.has(&key("a")));
    assert_eq!(fixture.write(b"one\n"), 4);
    assert_eq!(fixture.lost_and_restored(), b"one\n");
    let vendor = fs::read_dir(fixture.folder().parent().unwrap()).unwrap();
    assert_eq!(vendor.count(), 2, "the damaged copy was deleted");
    assert_eq!(fixture.archive.copies().unwrap().len(), 1);
}

#[test]
fn diverging_versions_are_all_kept_and_the_newest_is_restored() {
    let fixture = ArchiveFixture::new();
    let versions: [&[u8]; 4] = [b"one\ntwo\nthree\n", b"one\ntwo\n", b"one\nTWO\nthree\n", b"0\n"];
    for text in versions {
        assert_eq!(fixture.write(text), text.len() as u64);
    }
    assert_eq!(fixture.manifest().streams.len(), 4, "a version is missing");
    assert_eq!(fixture.lost_and_restored(), b"0\n");
    // A file that continues an older copy is appended to that copy.
    assert_eq!(fixture.write(b"one\ntwo\nthree\nfour\n"), 5);
    assert_eq!(fixture.manifest().streams.len(), 4);
    assert_eq!(fixture.lost_and_restored(), b"one\ntwo\nthree\nfour\n");
    let copied = |stream: &StoredStream| {
        let path = fixture.temp.path().join("out");
        frames::write_out(&fixture.folder(), stream, &path).unwrap();
        fs::read(path).unwrap()
    };
    let kept: Vec<Vec<u8>> = fixture.manifest().streams.iter().map(copied).collect();
    for text in &versions[1..] {
        assert!(kept.iter().any(|it| it == text), "{text:?}");
    }
}

#[test]
fn oldest_of_too_many_diverging_copies_are_deleted() {
    let fixture = ArchiveFixture::new();
    for number in 0..40 {
        fixture.write(&lines(number * 10, number * 10 + 3));
    }
    assert_eq!(fixture.copies().len(), 16);
    assert_eq!(fixture.manifest().streams.len(), 16);
    assert_eq!(fixture.lost_and_restored(), lines(390, 393));
    let stored: u64 = fixture.copies().iter().map(|it| fs::metadata(it).unwrap().len()).sum();
    assert_eq!(fixture.archive.size().unwrap(), stored);
}

#[test]
fn files_beside_a_transcript_and_its_ancestors_are_restored_with_it() {
    let fixture = ArchiveFixture::new();
    let (beside, parent) = (fixture.home().join("a/b/c.txt"), fixture.home().join("old/p.jsonl"));
    let elsewhere = fixture.temp.path().join("elsewhere.jsonl");
    for (path, text) in [(&beside, "beside"), (&parent, "parent"), (&elsewhere, "elsewhere")] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(fixture.transcript(), "child\n").unwrap();
    let ancestors = vec![parent.clone(), elsewhere.clone(), fixture.home().join("absent")];
    fixture.archive.copy(&ArchiveOrder { ancestors, ..fixture.order() }).unwrap();
    let kept = fixture.archive.ancestors(&key("a"));
    assert_eq!(kept, [PathBuf::from("old/p.jsonl"), elsewhere.clone()]);
    fs::remove_file(&elsewhere).unwrap();
    assert_eq!(fixture.lost_and_restored(), b"child\n");
    for (path, text) in [(&beside, "beside"), (&parent, "parent"), (&elsewhere, "elsewhere")] {
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    // Existing files are not touched, and the others are still restored.
    fs::write(&parent, "grown").unwrap();
    fs::remove_file(&beside).unwrap();
    fs::remove_file(fixture.transcript()).unwrap();
    fixture.restore().unwrap();
    assert_eq!(fs::read_to_string(&parent).unwrap(), "grown");
    assert_eq!(fs::read_to_string(&beside).unwrap(), "beside");
}

#[test]
fn restore_refuses_to_replace_an_existing_transcript() {
    let fixture = ArchiveFixture::new();
    fixture.write(b"one\n");
    fs::write(fixture.transcript(), "other").unwrap();
    let error = fixture.restore().unwrap_err();
    assert_eq!(error.kind, Kind::Conflict, "{error}");
    assert_eq!(fs::read(fixture.transcript()).unwrap(), b"other");
}

#[test]
fn read_out_recreates_the_layout_of_the_vendors_folder() {
    let fixture = ArchiveFixture::new();
    fs::create_dir(fixture.home().join("a")).unwrap();
    fs::write(fixture.home().join("a/big.txt"), "big").unwrap();
    fixture.write(b"one\n");
    let out = fixture.temp.path().join("out");
    let path = fixture.archive.extract(&key("a"), &out).unwrap();
    assert_eq!(path, out.join("a.jsonl"));
    assert_eq!(fs::read(path).unwrap(), b"one\n");
    assert_eq!(fs::read(out.join("a/big.txt")).unwrap(), b"big");
    assert_eq!(fixture.archive.extract(&key("b"), &out).unwrap_err().kind, Kind::NotFound);
}

#[test]
fn changed_document_is_copied_and_replaces_a_shorter_one() {
    let fixture = ArchiveFixture::new();
    let keep = |text: &str| {
        let content = Content::Export(text.as_bytes().to_vec());
        fixture.archive.copy(&ArchiveOrder { content, ..fixture.order() }).unwrap()
    };
    assert_eq!((keep("[1]"), keep("[1]"), keep("[1,2]")), (3, 0, 5));
    assert_eq!(fixture.copies().len(), 1);
    keep("[9]");
    assert_eq!(fixture.copies().len(), 2, "the longer document was deleted");
    let path = fixture.archive.extract(&key("a"), &fixture.temp.path().join("out")).unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), "[9]");
}

#[test]
fn removed_conversation_is_gone_and_an_empty_transcript_makes_no_copy() {
    let fixture = ArchiveFixture::new();
    assert_eq!(fixture.archive.copy(&fixture.order()).unwrap(), 0);
    assert_eq!(fixture.write(b""), 0);
    assert!(!fixture.archive.has(&key("a")) && !fixture.folder().exists());
    assert!(!fixture.archive.is_outdated(&key("a"), &fixture.transcript()));
    fixture.write(b"one\n");
    assert!(fixture.archive.has(&key("a")));
    assert!(!fixture.archive.is_outdated(&key("a"), &fixture.transcript()));
    fs::write(fixture.transcript(), "one\ntwo\n").unwrap();
    assert!(fixture.archive.is_outdated(&key("a"), &fixture.transcript()));
    for _twice in 0..2 {
        fixture.archive.remove(&key("a")).unwrap();
        assert!(!fixture.archive.has(&key("a")));
        assert_eq!(fixture.archive.size().unwrap(), 0);
    }
    let vendor = fs::read_dir(fixture.folder().parent().unwrap()).unwrap();
    assert_eq!(vendor.count(), 0);
}

#[test]
fn copies_are_readable_by_their_owner_only() {
    let fixture = ArchiveFixture::new();
    fixture.write(b"one\n");
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&fixture.copies()[0]), 0o600);
    assert_eq!(mode(&fixture.folder().join("manifest.json")), 0o600);
    for folder in fixture.folder().ancestors().take(3) {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
}

#[test]
fn restore_prefers_the_copy_of_the_same_path() {
    let fixture = ArchiveFixture::new();
    fixture.write(b"here\n");
    let other = fixture.home().join("other/a.jsonl");
    fs::create_dir(other.parent().unwrap()).unwrap();
    fs::write(&other, "there\n").unwrap();
    let content = Content::Transcript(other);
    fixture.archive.copy(&ArchiveOrder { content, ..fixture.order() }).unwrap();
    assert_eq!(fixture.lost_and_restored(), b"here\n");
}
