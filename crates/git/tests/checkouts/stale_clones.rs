//! Shared clones that can be removed, and the disk space of salvages.

use std::fs;
use std::path::Path;

use segue_core::Kind;
use segue_core::model::{CloneContent, RepositorySource, RepositoryUrl, SharedClone};
use segue_core::ports::{Checkouts as _, RemovalOrder};

use crate::support::Scene;

fn url(scene: &Scene) -> RepositoryUrl {
    RepositoryUrl::parse(&scene.url()).unwrap()
}

/// Removes a worktree of the remote.
async fn remove(scene: &Scene, path: &Path) {
    let order = scene.removal(path);
    let place = segue_core::model::WorktreePlace { source: scene.remote(), ..order.place };
    scene.checkouts.remove(&RemovalOrder { place, ..order }).await.unwrap();
}

/// Returns the only folder of clones.
fn only(scene: &Scene) -> SharedClone {
    let mut clones = scene.checkouts.clones().unwrap();
    assert_eq!(clones.len(), 1, "{clones:?}");
    clones.remove(0)
}

async fn holds(scene: &Scene) -> Option<String> {
    scene.checkouts.clone_holds(&only(scene)).await.unwrap()
}

#[tokio::test]
async fn clone_is_listed_with_its_url_and_its_last_use() {
    let scene = Scene::with_remote();
    assert_eq!(scene.checkouts.clones().unwrap(), []);
    scene.ensure(&scene.spec(scene.remote(), "a")).await.unwrap();
    let folder = scene.clone_folder();
    fs::create_dir(scene.path("data/clones/strange.git")).unwrap();
    let clones = scene.checkouts.clones().unwrap();
    let own = clones.iter().find(|it| it.path == folder).unwrap();
    assert_eq!((own.url.clone(), own.content), (Some(url(&scene)), CloneContent::Complete));
    assert!(own.used_at.as_second() > 1_700_000_000, "{}", own.used_at);
    let strange = clones.iter().find(|it| it.path != own.path).unwrap();
    assert_eq!(strange.url, None);
    scene.git(&own.path, &["config", "remote.origin.url", "https://example.org/other"]);
    let changed = scene.checkouts.clones().unwrap();
    assert!(changed.iter().all(|it| it.url.is_none()), "an agent has changed the URL");
    for clone in changed {
        assert!(scene.checkouts.clone_holds(&clone).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn clone_stays_while_it_has_worktrees_commits_or_salvages_that_the_remote_lacks() {
    let scene = Scene::with_remote();
    let made = scene.ensure(&scene.spec(scene.remote(), "a")).await.unwrap();
    let clone = scene.clone_folder();
    assert!(holds(&scene).await.unwrap().contains("it has the worktree"));
    remove(&scene, &made.path).await;
    assert_eq!(holds(&scene).await, None, "its branch is at a commit of the remote");

    let made = scene.ensure(&scene.spec(scene.remote(), "a")).await.unwrap();
    scene.commit(&made.path, "own", "work");
    remove(&scene, &made.path).await;
    assert!(holds(&scene).await.unwrap().contains("`refs/heads/"), "{:?}", holds(&scene).await);
    let error = scene.checkouts.remove_clone(&only(&scene)).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
    scene.git(&clone, &["branch", "-q", "-D", "a"]);
    assert_eq!(holds(&scene).await, None);

    let made = scene.ensure(&scene.spec(scene.remote(), "b")).await.unwrap();
    fs::write(made.path.join("untracked"), "x").unwrap();
    remove(&scene, &made.path).await;
    assert!(holds(&scene).await.unwrap().contains("refs/segue/salvage/"));
    assert!(scene.checkouts.remove_clone(&only(&scene)).await.is_err());
    assert!(clone.is_dir());
}

#[tokio::test]
async fn removed_clone_leaves_nothing_and_an_interrupted_removal_is_completed() {
    let scene = Scene::with_remote();
    let made = scene.ensure(&scene.spec(scene.remote(), "a")).await.unwrap();
    remove(&scene, &made.path).await;
    let (clone, listed) = (scene.clone_folder(), only(&scene));
    let left = format!("{}.new-removed-1", clone.display());
    fs::create_dir_all(Path::new(&left).join("objects")).unwrap();
    let unfinished = scene.checkouts.clones().unwrap().remove(1);
    assert_eq!(unfinished.content, CloneContent::Unfinished);
    scene.checkouts.remove_clone(&unfinished).await.unwrap();
    assert_eq!(only(&scene), listed);
    scene.checkouts.remove_clone(&listed).await.unwrap();
    assert_eq!(fs::read_dir(scene.path("data/clones")).unwrap().count(), 0);
    scene.checkouts.remove_clone(&listed).await.unwrap();
    scene.ensure(&scene.spec(scene.remote(), "a")).await.unwrap();
    assert!(clone.is_dir(), "the clone can be made again");
}

#[tokio::test]
async fn bytes_of_salvages_are_those_of_objects_that_nothing_else_has() {
    let scene = Scene::new();
    let bytes = async || scene.checkouts.salvage_bytes(&scene.app()).await.unwrap();
    assert_eq!(bytes().await, 0);
    let made = scene.ensure(&scene.spec(scene.app(), "a")).await.unwrap();
    let number = |it: u32| it.wrapping_mul(2_654_435_761).to_le_bytes()[1];
    let random: Vec<u8> = (0..200_000).map(number).collect();
    fs::write(made.path.join("large"), random).unwrap();
    scene.checkouts.remove(&scene.removal(&made.path)).await.unwrap();
    let with_salvage = bytes().await;
    assert!(with_salvage > 1_000, "{with_salvage}");
    assert_eq!(bytes().await, with_salvage, "the second call finds the same refs");
    let salvage = scene.checkouts.salvages(&scene.app()).await.unwrap().remove(0);
    let folder = scene.path("app");
    scene.git(&folder, &["branch", "taken-over", salvage.commit.as_str()]);
    assert_eq!(bytes().await, 0, "a branch has the objects, too");
    scene.git(&folder, &["branch", "-D", "taken-over"]);
    assert_eq!(bytes().await, with_salvage);
    let missing = RepositorySource::Url(RepositoryUrl::parse("https://example.org/x").unwrap());
    assert_eq!(scene.checkouts.salvage_bytes(&missing).await.unwrap(), 0);
}
