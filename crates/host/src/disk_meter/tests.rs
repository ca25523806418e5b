use std::fs::{self, File, FileTimes};
use std::process::Command;
use std::time::{Duration, SystemTime};

use segue_core::model::Environment;
use segue_core::ports::Clock as _;
use tempfile::TempDir;

use super::*;
use crate::SystemClock;

fn meter() -> LocalDiskMeter {
    let environment = Environment::new([("SEGUE_HOME".to_owned(), "/nonexistent".to_owned())]);
    LocalDiskMeter::new(&Paths::from_environment(&environment).unwrap())
}

fn measure(meter: &LocalDiskMeter, folders: &[MeasuredFolder]) -> DiskMeasurement {
    meter.measure(folders, SystemClock.now())
}

/// Returns a folder that was last used long ago.
fn resting(path: &Path) -> MeasuredFolder {
    let last_use = FolderUse::Until(Timestamp::UNIX_EPOCH);
    MeasuredFolder { path: path.to_owned(), last_use }
}

fn used(path: &Path) -> MeasuredFolder {
    MeasuredFolder { last_use: FolderUse::Now, ..resting(path) }
}

/// Returns what `du` says about folders.
fn du(folders: &[&Path]) -> u64 {
    let output = Command::new("du").args(["-s", "-c", "--block-size=1"]).args(folders).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let total = text.lines().last().unwrap().split_whitespace().next().unwrap();
    total.parse().unwrap()
}

/// Sets the time of the last change of all directories to an hour ago: a directory that has just
/// changed is always read again.
fn settle(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            settle(&entry.path());
        }
    }
    let hour_ago = SystemTime::from(SystemClock.now()) - Duration::from_secs(3600);
    File::open(folder).unwrap().set_times(FileTimes::new().set_modified(hour_ago)).unwrap();
}

/// Makes a tree of many small files, some large ones, hard links, a sparse file and symlinks.
fn tree(folder: &Path, directories: usize, files: usize) {
    for directory in 0..directories {
        let path = folder.join(format!("group-{}", directory % 10)).join(directory.to_string());
        fs::create_dir_all(&path).unwrap();
        for file in 0..files {
            fs::write(path.join(file.to_string()), vec![b'x'; file * 100]).unwrap();
        }
    }
    fs::write(folder.join("large"), vec![1; 3_000_000]).unwrap();
    fs::hard_link(folder.join("large"), folder.join("group-0/the-same")).unwrap();
    File::create(folder.join("sparse")).unwrap().set_len(1 << 30).unwrap();
    std::os::unix::fs::symlink("/usr", folder.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(".", folder.join("loop")).unwrap();
}

#[test]
fn sum_is_what_du_says_with_hard_links_sparse_files_and_symlinks() {
    let folder = TempDir::new().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    tree(&one, 20, 30);
    tree(&two, 5, 3);
    fs::hard_link(one.join("large"), two.join("shared")).unwrap();
    let measured = measure(&meter(), &[used(&one), used(&two)]);
    assert_eq!(measured.bytes.iter().sum::<u64>(), du(&[&one, &two]));
    assert_eq!(measured.bytes[0], du(&[&one]), "the first folder has the shared file");
    assert_eq!(measured.unreadable, Vec::<PathBuf>::new());
}

#[test]
fn folder_below_another_one_counts_for_itself_alone() {
    let folder = TempDir::new().unwrap();
    tree(folder.path(), 10, 5);
    let below = folder.path().join("group-3");
    let meter = meter();
    let whole = measure(&meter, &[used(folder.path())]).bytes[0];
    for folders in [[used(folder.path()), used(&below)], [used(&below), used(folder.path())]] {
        let parts = measure(&meter, &folders);
        assert_eq!(parts.bytes.iter().sum::<u64>(), whole);
        let place = folders.iter().position(|it| it.path == below).unwrap();
        assert_eq!(parts.bytes[place], du(&[&below]));
    }
    let after = measure(&meter, &[resting(folder.path())]);
    assert_eq!(after.bytes, [whole], "the folder below is part of the other one again");
}

#[test]
fn second_call_on_an_unchanged_tree_of_50_000_files_examines_no_file() {
    let folder = TempDir::new().unwrap();
    tree(folder.path(), 1_000, 50);
    settle(folder.path());
    let meter = meter();
    let first = measure(&meter, &[resting(folder.path())]);
    assert!(first.examined > 50_000, "{}", first.examined);
    let second = measure(&meter, &[resting(folder.path())]);
    assert_eq!(second.bytes, first.bytes);
    assert_eq!(second.bytes[0], du(&[folder.path()]));
    // The top folder, ten groups, and the directories.
    assert_eq!(second.examined, 1_011);
}

#[test]
fn added_removed_and_renamed_files_are_noticed_in_a_resting_folder() {
    let folder = TempDir::new().unwrap();
    tree(folder.path(), 20, 10);
    settle(folder.path());
    let meter = meter();
    let again = || measure(&meter, &[resting(folder.path())]);
    let before = again();
    let place = folder.path().join("group-4/14");
    fs::write(place.join("new"), vec![0; 1_000_000]).unwrap();
    let added = again();
    assert_eq!(added.bytes[0], du(&[folder.path()]));
    assert!(added.bytes[0] > before.bytes[0] + 900_000);
    assert!(added.examined < 60, "{}", added.examined);
    fs::rename(&place, folder.path().join("group-5/moved")).unwrap();
    assert_eq!(again().bytes[0], du(&[folder.path()]));
    fs::remove_dir_all(folder.path().join("group-5")).unwrap();
    assert_eq!(again().bytes[0], du(&[folder.path()]));
    fs::remove_dir_all(folder.path().join("group-0")).unwrap();
    assert_eq!(again().bytes[0], du(&[folder.path()]), "one name of a hard link is gone");
}

#[test]
fn file_that_grows_in_place_is_noticed_if_its_folder_was_used_since() {
    let folder = TempDir::new().unwrap();
    tree(folder.path(), 5, 5);
    settle(folder.path());
    let meter = meter();
    let before = measure(&meter, &[resting(folder.path())]);
    let grown = File::options().append(true).open(folder.path().join("group-1/1/3")).unwrap();
    std::io::Write::write_all(&mut &grown, &vec![1; 1_000_000]).unwrap();
    let resting_use = measure(&meter, &[resting(folder.path())]);
    assert_eq!(resting_use.bytes, before.bytes, "no directory has changed");
    let since = FolderUse::Until(SystemClock.now());
    let used_since = MeasuredFolder { last_use: since, ..resting(folder.path()) };
    assert_eq!(measure(&meter, &[used_since]).bytes[0], du(&[folder.path()]));
    assert_eq!(measure(&meter, &[used(folder.path())]).bytes[0], du(&[folder.path()]));
}

#[test]
fn directory_that_has_just_changed_is_read_again() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("one"), vec![0; 5000]).unwrap();
    let meter = meter();
    measure(&meter, &[resting(folder.path())]);
    assert_eq!(measure(&meter, &[resting(folder.path())]).examined, 2);
    settle(folder.path());
    measure(&meter, &[resting(folder.path())]);
    assert_eq!(measure(&meter, &[resting(folder.path())]).examined, 1);
}

#[test]
fn missing_folder_and_a_file_instead_of_a_folder_have_no_bytes() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "x").unwrap();
    let paths = [folder.path().join("file"), folder.path().join("missing")];
    let measured = measure(&meter(), &paths.map(|path| used(&path)));
    assert_eq!(measured.bytes, [0, 0]);
    assert_eq!(measured.unreadable, Vec::<PathBuf>::new());
}
