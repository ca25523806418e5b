use tempfile::TempDir;

use super::*;

fn change_at(path: impl Into<PathBuf>) -> FolderChange {
    FolderChange::At { path: path.into(), gone: false }
}

fn removal_of(path: impl Into<PathBuf>) -> FolderChange {
    FolderChange::At { path: path.into(), gone: true }
}

/// Waits until this change is reported.
async fn wait_for(watcher: &mut Watcher, expected: &FolderChange) {
    let wait = async { while watcher.next().await.unwrap() != *expected {} };
    let in_time = tokio::time::timeout(Duration::from_secs(20), wait).await;
    assert!(in_time.is_ok(), "never reported: {expected:?}");
}

/// Creates a marker file and returns all changes that are reported before it.
async fn changes_before_marker(watcher: &mut Watcher, folder: &Path) -> Vec<FolderChange> {
    let marker = folder.join("marker");
    fs::write(&marker, "").unwrap();
    let mut changes = Vec::new();
    loop {
        let change = tokio::time::timeout(Duration::from_secs(20), watcher.next()).await;
        match change.unwrap().unwrap() {
            change if change == change_at(&marker) => return changes,
            change => changes.push(change),
        }
    }
}

#[tokio::test]
async fn created_changed_renamed_and_deleted_files_are_reported() {
    let temp = TempDir::new().unwrap();
    let mut watcher = Watcher::new().unwrap();
    watcher.add(temp.path()).unwrap();
    watcher.add(temp.path()).unwrap();
    let file = temp.path().join("file");
    fs::write(&file, "x").unwrap();
    wait_for(&mut watcher, &change_at(&file)).await;
    changes_before_marker(&mut watcher, temp.path()).await;
    fs::write(&file, "xy").unwrap();
    wait_for(&mut watcher, &change_at(&file)).await;
    fs::rename(&file, temp.path().join("renamed")).unwrap();
    wait_for(&mut watcher, &removal_of(&file)).await;
    wait_for(&mut watcher, &change_at(temp.path().join("renamed"))).await;
    fs::remove_file(temp.path().join("renamed")).unwrap();
    wait_for(&mut watcher, &removal_of(temp.path().join("renamed"))).await;
}

#[tokio::test]
async fn missing_folder_is_watched_as_soon_as_it_appears() {
    let temp = TempDir::new().unwrap();
    let deep = temp.path().join("a/b/c");
    let mut watcher = Watcher::new().unwrap();
    watcher.add(&deep).unwrap();
    // The folder and its content may exist before the first event is read.
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("early"), "x").unwrap();
    wait_for(&mut watcher, &change_at(deep.join("early"))).await;
    fs::write(deep.join("late"), "x").unwrap();
    wait_for(&mut watcher, &change_at(deep.join("late"))).await;
}

#[tokio::test]
async fn missing_folder_is_watched_when_it_appears_level_by_level_or_by_a_rename() {
    let temp = TempDir::new().unwrap();
    let deep = temp.path().join("a/b");
    let mut watcher = Watcher::new().unwrap();
    watcher.add(&deep).unwrap();
    watcher.add(temp.path()).unwrap();
    fs::create_dir(temp.path().join("a")).unwrap();
    wait_for(&mut watcher, &change_at(temp.path().join("a"))).await;
    fs::create_dir(temp.path().join("elsewhere")).unwrap();
    fs::rename(temp.path().join("elsewhere"), &deep).unwrap();
    fs::write(deep.join("file"), "x").unwrap();
    wait_for(&mut watcher, &change_at(deep.join("file"))).await;
}

#[tokio::test]
async fn deleted_folder_is_reported_and_watched_again_when_recreated() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let mut watcher = Watcher::new().unwrap();
    watcher.add(&folder).unwrap();
    for _ in 0..3 {
        fs::remove_dir_all(&folder).unwrap();
        wait_for(&mut watcher, &removal_of(&folder)).await;
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("file"), "x").unwrap();
        wait_for(&mut watcher, &change_at(folder.join("file"))).await;
    }
    fs::rename(&folder, temp.path().join("away")).unwrap();
    wait_for(&mut watcher, &removal_of(&folder)).await;
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("file"), "x").unwrap();
    wait_for(&mut watcher, &change_at(folder.join("file"))).await;
}

#[tokio::test]
async fn writes_in_an_ancestor_of_a_missing_folder_are_not_reported() {
    let temp = TempDir::new().unwrap();
    let busy = temp.path().join("busy");
    fs::write(&busy, "x").unwrap();
    let quiet = temp.path().join("quiet");
    fs::create_dir(&quiet).unwrap();
    let mut watcher = Watcher::new().unwrap();
    watcher.add(&temp.path().join("requested/deep")).unwrap();
    watcher.add(&quiet).unwrap();
    fs::write(&busy, "xyz").unwrap();
    fs::remove_file(&busy).unwrap();
    assert_eq!(changes_before_marker(&mut watcher, &quiet).await, []);
    assert!(read(watcher.inotify.get_ref()).unwrap().len() <= 1);
}

#[tokio::test]
async fn removed_folder_is_not_reported_any_more() {
    let temp = TempDir::new().unwrap();
    let (kept, removed) = (temp.path().join("kept"), temp.path().join("removed"));
    fs::create_dir(&kept).unwrap();
    fs::create_dir(&removed).unwrap();
    let mut watcher = Watcher::new().unwrap();
    watcher.add(&kept).unwrap();
    watcher.add(&removed).unwrap();
    watcher.remove(&removed);
    watcher.remove(&removed);
    fs::write(removed.join("file"), "x").unwrap();
    assert_eq!(changes_before_marker(&mut watcher, &kept).await, []);
    assert_eq!(watcher.requested.len(), 1);
}

#[tokio::test]
async fn overflow_is_reported_and_all_folders_stay_watched() {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    let temp = TempDir::new().unwrap();
    let (busy, late) = (temp.path().join("busy"), temp.path().join("late"));
    fs::create_dir(&busy).unwrap();
    let mut watcher = Watcher::new().unwrap();
    watcher.add(&busy).unwrap();
    watcher.add(&late).unwrap();
    let (one, two) = (busy.join("one"), busy.join("two"));
    fs::write(&one, "x").unwrap();
    // Two renames cause four events, and the kernel cannot merge them.
    for _ in 0..=limit / 4 {
        fs::rename(&one, &two).unwrap();
        fs::rename(&two, &one).unwrap();
    }
    // The event of this creation is lost, but the folder is noticed anyway.
    fs::create_dir(&late).unwrap();
    wait_for(&mut watcher, &FolderChange::Overflow).await;
    fs::write(late.join("file"), "x").unwrap();
    wait_for(&mut watcher, &change_at(late.join("file"))).await;
    write_and_wait(&mut watcher, &busy.join("file")).await;
}

async fn write_and_wait(watcher: &mut Watcher, file: &Path) {
    fs::write(file, "x").unwrap();
    wait_for(watcher, &change_at(file)).await;
}

#[tokio::test]
async fn add_refuses_a_relative_folder() {
    assert!(Watcher::new().unwrap().add(Path::new("relative")).is_err());
}
