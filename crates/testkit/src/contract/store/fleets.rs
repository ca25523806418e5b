//! Fleets with their agent counts, timers, trusted project files, and paths that are not UTF-8.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::model::{AgentName, Counts, Fleet, FleetName, Session, Timer, Trust};
use segue_core::ports::Change;

use super::{Backend, Samples, assert_conflict, commit};

pub async fn a_second_folder_for_a_fleet_is_a_conflict(backend: &impl Backend) {
    let store = backend.open().await;
    let shop = fleet("shop", Some("/code/shop"));
    for _ in 0..2 {
        store.commit(commit([Change::PutFleet(shop.clone())])).await.unwrap();
    }
    for folder in [Some("/code/other"), None] {
        let other = Change::PutFleet(fleet("shop", folder));
        assert_conflict(store.commit(commit([other])).await, &["`shop`", "`/code/shop`"]);
    }
    assert_eq!(store.fleet(&shop.name).await.unwrap(), Some(shop.clone()));
    assert_eq!(store.fleets_of(Path::new("/code/shop")).await.unwrap(), [shop]);
    assert_eq!(store.fleet(&FleetName::parse("store").unwrap()).await.unwrap(), None);
}

pub async fn a_folder_may_have_several_fleets(backend: &impl Backend) {
    let store = backend.open().await;
    let fleets = ["zebra", "apple", "Mango"].map(|name| fleet(name, Some("/code/shop")));
    for fleet in fleets.iter().chain([&fleet("loose", None), &fleets[0]]) {
        store.commit(commit([Change::PutFleet(fleet.clone())])).await.unwrap();
    }
    assert_eq!(store.fleets_of(Path::new("/code/shop")).await.unwrap(), fleets);
    for other in ["/code/other", "/code/shop/part", "/code"] {
        assert_eq!(store.fleets_of(Path::new(other)).await.unwrap(), []);
    }
}

pub async fn fleets_without_a_folder_do_not_conflict(backend: &impl Backend) {
    let store = backend.open().await;
    for name in ["default", "loose", "default"] {
        store.commit(commit([Change::PutFleet(fleet(name, None))])).await.unwrap();
    }
    let loose = fleet("loose", None);
    assert_eq!(store.fleet(&loose.name).await.unwrap(), Some(loose));
}

pub async fn a_new_trust_of_a_folder_replaces_the_old_one(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let folder = PathBuf::from("/code/shop");
    assert_eq!(store.trust(&folder).await.unwrap(), None);
    for claims in ["one", "two"] {
        let trust = Trust { folder: folder.clone(), claims: claims.to_owned(), at: samples.time() };
        store.commit(commit([Change::PutTrust(trust.clone())])).await.unwrap();
        assert_eq!(store.trust(&folder).await.unwrap(), Some(trust));
    }
    assert_eq!(store.trust(Path::new("/code")).await.unwrap(), None);
}

pub async fn a_new_agent_count_replaces_the_old_one(backend: &impl Backend) {
    let store = backend.open().await;
    let [shop, other] = ["shop", "other"].map(|name| FleetName::parse(name).unwrap());
    let coder = AgentName::parse("coder").unwrap();
    let count = |count| Change::SetCount { fleet: shop.clone(), agent: coder.clone(), count };
    assert_eq!(store.counts(&shop).await.unwrap(), Counts::new());
    store.commit(commit([count(3), count(0)])).await.unwrap();
    assert_eq!(store.counts(&shop).await.unwrap(), Counts::from([(coder.clone(), 0)]));
    assert_eq!(store.counts(&other).await.unwrap(), Counts::new());
}

pub async fn timers_of_a_session_are_replaced_together_and_removed_with_it(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.session("shop", "coder");
    let timer = |prompt: &str| {
        let every = Duration::from_millis(1500);
        Timer { every, prompt: prompt.to_owned(), interrupt: true }
    };
    let set = |timers| Change::SetTimers { session: session.id, timers };
    assert!(store.commit(commit([set(vec![timer("a")])])).await.is_err(), "the session is unknown");
    let created = Change::CreateSession(Box::new(session.clone()));
    store.commit(commit([created, set(vec![timer("a"), timer("b")])])).await.unwrap();
    assert_eq!(store.timers(session.id).await.unwrap(), [timer("a"), timer("b")]);
    store.commit(commit([set(vec![timer("c")])])).await.unwrap();
    assert_eq!(store.timers(session.id).await.unwrap(), [timer("c")]);
    store.commit(commit([Change::RemoveSession(session.id)])).await.unwrap();
    assert_eq!(store.timers(session.id).await.unwrap(), []);
}

pub async fn paths_that_are_not_utf8_are_read_back_unchanged(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let odd = PathBuf::from(OsStr::from_bytes(b"/code/\xff\xfe odd'\n"));
    let session = Session { cwd: odd.clone(), ..samples.session("shop", "coder") };
    let fleet = Fleet { folder: Some(odd.clone()), ..fleet("shop", None) };
    let trust = Trust { folder: odd.clone(), claims: "one".to_owned(), at: samples.time() };
    let changes = [
        Change::CreateSession(Box::new(session.clone())),
        Change::PutFleet(fleet.clone()),
        Change::PutTrust(trust.clone()),
    ];
    store.commit(commit(changes)).await.unwrap();
    assert_eq!(store.session(session.id).await.unwrap(), Some(session));
    assert_eq!(store.fleets_of(&odd).await.unwrap(), [fleet]);
    assert_eq!(store.trust(&odd).await.unwrap(), Some(trust));
}

fn fleet(name: &str, folder: Option<&str>) -> Fleet {
    Fleet { name: FleetName::parse(name).unwrap(), folder: folder.map(PathBuf::from) }
}
