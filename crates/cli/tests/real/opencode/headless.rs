//! Headless turns, the causes of failed turns, and deleted conversations.

use segue_testkit::scene::{event_texts, text};
use segue_testkit::{archive, isolated};

use super::{export, opencode, scene};

#[test]
fn prompt_is_passed_unchanged_and_resume_of_a_deleted_conversation_is_refused() {
    isolated(|| {
        let scene = scene();
        let message = "remember  \"ALPHA\"\n\t--help -s 0x10 1e3 'x' \\ ünï";
        let turn = scene.headless("alpha", message);
        assert_eq!(turn.status, 0, "{turn:#?}");
        assert!(turn.stdout.contains("turns=1 first=<<remember  \"ALPHA\""), "{turn:#?}");
        assert_eq!(scene.world.session("alpha")["status"], "idle");
        scene.world.kill_everything();
        scene.world.resume(["--all"]);
        scene.assert_carries("alpha", &[message], "which word, alpha?");

        let session = scene.wait_idle("alpha");
        let id = text(&session, "vendor_session_id");
        let exported = export(&scene, id);
        let deleted = opencode(&scene, &["session", "delete", id]);
        assert_eq!(deleted.status, 0, "{deleted:#?}");
        archive::remove_all(&scene.world);
        let requests = scene.model.exchanges().len();
        let refused = scene.world.segue(["resume", "alpha"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        assert!(refused.stdout.contains("--fresh"), "{refused:#?}");
        let doctor = scene.world.segue(["doctor"]);
        assert!(doctor.stdout.contains("the transcript of `default/alpha` is gone"), "{doctor:#?}");
        assert_eq!(scene.model.exchanges().len(), requests);

        // The copy that was exported before the deletion has the whole conversation.
        let imported = opencode(&scene, &["import", "--pure", &exported]);
        assert_eq!(imported.status, 0, "{imported:#?}");
        scene.world.resume(["alpha"]).assert_back("alpha", "resumed");
        scene.assert_carries("alpha", &[message, "which word, alpha?"], "are you back?");
    });
}

#[test]
fn deleted_conversation_is_imported_again_from_the_archive() {
    isolated(|| {
        let scene = scene();
        let turn = scene.headless("alpha", "remember ALPHA [[tool: echo heron]]");
        assert_eq!(turn.status, 0, "{turn:#?}");
        scene.start("beta", "remember BETA");
        scene.wait_session("beta", |session| session["status"] == "idle");
        scene.world.ok(["stop", "--all"]);
        for name in ["alpha", "beta"] {
            let session = scene.world.session(name);
            assert!(archive::manifest(&scene.world, &session).is_some(), "{name}");
            let deleted =
                opencode(&scene, &["session", "delete", text(&session, "vendor_session_id")]);
            assert_eq!(deleted.status, 0, "{deleted:#?}");
        }
        let report = scene.world.resume(["alpha", "beta"]);
        report.assert_back("alpha", "restored");
        report.assert_back("beta", "restored");
        let first = "remember ALPHA [[tool: echo heron]]";
        scene.assert_carries("alpha", &[first], "which word, alpha?");
        scene.wait_session("beta", |session| session["status"] == "idle");
        scene.assert_carries("beta", &["remember BETA"], "which word, beta?");
    });
}

/// `OpenCode` itself retries these failures forever, and reports nothing.
#[test]
fn endless_retries_are_ended_and_reported_as_a_failed_turn() {
    isolated(|| {
        let scene = scene();
        let limited = scene.headless("limited", "[[limit: 2030-01-01T10:00:00Z]]");
        assert_eq!(limited.status, 6, "{limited:#?}");
        assert!(limited.stderr.contains("usage limit"), "{limited:#?}");
        let events = event_texts(&scene.world, "limited", "turn_failed");
        assert_eq!(events.len(), 1, "{events:?}");
        // The session is removed. Its conversation stays in OpenCode's own database.
        scene.world.ok(["rm", "--purge", "--yes", "limited"]);
        assert!(scene.world.ok(["adopt", "--json"]).contains("[[limit: 2030"));

        scene.model.refuse();
        let turn = scene.headless("coder", "remember ALPHA");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("the service cannot be reached"), "{turn:#?}");
        scene.model.accept();
        scene.assert_carries("coder", &["remember ALPHA"], "are you there?");
    });
}
