//! Conversations in a folder that belong to no session.

use segue_core::flows::unknown_conversations;
use segue_core::model::{Environment, Status, VendorId};
use segue_fakes::{FakeVendor, Storage, samples, transcript_line};

use crate::stored::Stored;

async fn found(stored: &Stored) -> Vec<String> {
    let found = unknown_conversations::in_folder(
        &stored.ports,
        samples::CWD.as_ref(),
        &samples::environment(),
    )
    .await;
    found.unwrap().iter().map(|it| format!("{}:{}", it.vendor, it.vendor_session_id)).collect()
}

#[tokio::test]
async fn conversations_of_the_folder_without_a_session_are_listed_newest_first() {
    let stored = Stored::new();
    stored.write("older", &[("user@1", "hello")]);
    stored.write("newer", &[("user@2", "hello")]);
    stored.write("elsewhere", &[("cwd", "/other"), ("user@3", "hello")]);
    stored.write("owned", &[("user@4", "hello")]);
    let session = stored.add(1, "fox", Status::Idle).await;
    stored.bind(&session, "owned").await;
    assert_eq!(found(&stored).await, ["tool:newer", "tool:older"]);
    stored.bind(&session, "newer").await;
    assert_eq!(found(&stored).await, ["tool:older"], "it belonged to both");
}

#[tokio::test]
async fn only_the_beginning_of_a_first_message_is_shown() {
    let stored = Stored::new();
    stored.write("one", &[("user", &"ü".repeat(200))]);
    let found = unknown_conversations::in_folder(
        &stored.ports,
        samples::CWD.as_ref(),
        &samples::environment(),
    )
    .await;
    assert_eq!(found.unwrap()[0].begins, Some("ü".repeat(80)));
}

#[tokio::test]
async fn two_vendors_may_use_the_same_id() {
    let stored = Stored::new();
    stored.world.vendors.put(FakeVendor { name: "other", ..FakeVendor::default() });
    stored.write("same", &[("user", "hello")]);
    stored.world.disk.write("/home/other/same.txt", transcript_line("user", "hello"));
    let session = stored.add(1, "fox", Status::Idle).await;
    stored.bind(&session, "same").await;
    assert_eq!(session.vendor, VendorId::new("tool"));
    assert_eq!(found(&stored).await, ["other:same"]);
}

#[tokio::test]
async fn vendor_that_cannot_be_read_does_not_hide_the_others() {
    let stored = Stored::new();
    stored.write("one", &[("user", "hello")]);
    let unreadable = FakeVendor { storage: Storage::Unreadable, ..FakeVendor::default() };
    stored.world.vendors.put(FakeVendor { name: "silent", ..unreadable });
    stored.world.vendors.put(FakeVendor { name: "homeless", ..FakeVendor::default() });
    let environment = Environment::new([("HOMELESS_HOME".to_owned(), String::new())]);
    let found =
        unknown_conversations::in_folder(&stored.ports, samples::CWD.as_ref(), &environment)
            .await
            .unwrap();
    assert_eq!(found.len(), 1);
    stored.world.calls.fail("files.list", 1);
    let found =
        unknown_conversations::in_folder(&stored.ports, samples::CWD.as_ref(), &environment)
            .await
            .unwrap();
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn store_that_fails_is_an_error() {
    let stored = Stored::new();
    stored.add(1, "fox", Status::Idle).await;
    for call in ["store.sessions", "store.bindings"] {
        stored.world.calls.fail(call, 1);
        let found = unknown_conversations::in_folder(
            &stored.ports,
            samples::CWD.as_ref(),
            &samples::environment(),
        )
        .await;
        assert!(found.is_err(), "{call}");
    }
}
