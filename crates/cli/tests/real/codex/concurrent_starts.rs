//! Several sessions that start, or are killed, at the same time.

use segue_testkit::isolated;

use super::scene;

#[test]
fn two_killed_headless_turns_continue_their_own_conversations() {
    isolated(|| {
        let scene = scene();
        let names = ["alpha", "beta"];
        let message = |name: &str| format!("remember {name} [[hold: {name}]]");
        let mut turns: Vec<_> = names
            .iter()
            .map(|name| {
                let message = message(name);
                scene.world.start([
                    "run",
                    "--headless",
                    "--vendor",
                    "codex",
                    "--name",
                    name,
                    &message,
                ])
            })
            .collect();
        for name in names {
            scene.model.wait_held(name);
            scene.wait_has_content(name);
        }
        scene.world.kill_everything();
        turns.iter_mut().for_each(|turn| assert!(!turn.wait().unwrap().success()));

        let report = scene.world.resume(["--all"]);
        for name in names {
            report.assert_back(name, "resumed");
            let nudged = scene.model.wait_for(|it| {
                it.newest().contains("started again") && it.user_texts()[0] == message(name)
            });
            assert_eq!(nudged.user_texts().len(), 2, "{:?}", nudged.user_texts());
            let session = scene.wait_idle(name);
            assert_eq!(nudged.session.as_deref(), session["vendor_session_id"].as_str());
        }
    });
}

#[test]
fn three_concurrent_starts_on_a_fresh_home_all_succeed() {
    isolated(|| {
        let scene = scene();
        let names = ["one", "two", "three"];
        let mut starts: Vec<_> = names
            .iter()
            .map(|name| {
                let message = format!("I am {name}.");
                scene.world.start(["run", "-d", "--name", name, "--vendor", "codex", &message])
            })
            .collect();
        for start in &mut starts {
            assert!(start.wait().unwrap().success());
        }
        for name in names {
            scene.model.wait_answered(&format!("I am {name}."));
            let session = scene.wait_idle(name);
            assert_eq!(session["launches"], 1, "{session:#}");
        }
    });
}
