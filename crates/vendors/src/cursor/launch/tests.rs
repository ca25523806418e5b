use serde_json::Value;

use super::*;
use crate::testing::{CountingFiles, Home, plan, session};

const ID: &str = "32143814-2a0b-4c11-9d55-0b7c5a1f6e01";
const PLUGIN: &str = "/state/launches/one/cursor-plugin";

fn at(home: &Home) -> Session {
    Session { cwd: "/code/a".into(), config_dir: home.folder.path().to_owned(), ..session() }
}

#[test]
fn headless_turn_gets_permission_model_and_message_as_arguments() {
    let session = Session {
        headless: true,
        permission: Permission::Auto,
        model: Some("auto".to_owned()),
        ..session()
    };
    let disk = CountingFiles::default();
    let command = CursorVendor
        .command(&plan(&session, &disk, (LaunchMode::Fresh, None, Some("--help"))))
        .unwrap();
    let wanted =
        "--workspace /code --force --model auto -p --output-format stream-json --trust -- --help";
    assert_eq!(command.arguments.join(" "), wanted);
    assert_eq!(command.files, []);
    let error =
        CursorVendor.command(&plan(&session, &disk, (LaunchMode::Fresh, None, None))).unwrap_err();
    assert_eq!(error.kind, segue_core::Kind::Usage);
}

#[test]
fn interactive_launch_gets_a_plugin_with_hooks() {
    let (session, disk) = (session(), CountingFiles::default());
    let events = |message| {
        let command = CursorVendor
            .command(&plan(&session, &disk, (LaunchMode::Fresh, None, message)))
            .unwrap();
        assert_eq!(command.arguments[2..4], ["--plugin-dir", PLUGIN]);
        assert!(!command.arguments.contains(&"--trust".to_owned()));
        let file = |end: &str| command.files.iter().find(|file| file.path.ends_with(end)).unwrap();
        let manifest: Value =
            serde_json::from_str(&file(".cursor-plugin/plugin.json").contents).unwrap();
        assert_eq!(manifest["name"], "segue");
        let hooks: Value = serde_json::from_str(&file("hooks/hooks.json").contents).unwrap();
        assert_eq!(hooks["hooks"]["stop"][0]["command"], "'/bin/segue' hook");
        assert!(command.files.iter().all(|file| file.path.starts_with(PLUGIN)));
        hooks["hooks"].as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(events(None), "beforeSubmitPrompt sessionStart stop");
    // A launch with a message is never idle before its first turn.
    assert_eq!(events(Some("hello")), "beforeSubmitPrompt stop");
}

#[test]
fn instructions_are_a_rule_of_the_plugin() {
    let session =
        Session { headless: true, instructions: Some("Be brief.".to_owned()), ..session() };
    let disk = CountingFiles::default();
    let command = CursorVendor
        .command(&plan(&session, &disk, (LaunchMode::Fresh, None, Some("hi"))))
        .unwrap();
    let rule = command.files.iter().find(|file| file.path.ends_with("rules/segue.mdc")).unwrap();
    assert!(rule.contents.starts_with("---\n") && rule.contents.ends_with("Be brief.\n"));
    assert!(command.arguments.join(" ").contains(&format!("--plugin-dir {PLUGIN}")));
    assert!(!command.files.iter().any(|file| file.path.ends_with("hooks.json")));
}

#[test]
fn resume_without_a_database_is_refused() {
    let home = Home::new();
    let session = at(&home);
    let id = VendorSessionId::new(ID);
    let resume =
        || CursorVendor.command(&plan(&session, &home.disk, (LaunchMode::Resume, Some(&id), None)));
    let error = resume().unwrap_err();
    assert!(error.to_string().contains("has no database"), "{error}");
    home.write(&format!("chats/x/{ID}/store.db"), "");
    home.write(&format!("chats/x/{ID}/meta.json"), r#"{"cwd":"/code/a"}"#);
    assert_eq!(resume().unwrap().arguments.last().unwrap(), &format!("--resume={ID}"));
    let unknown = VendorSessionId::new("-1");
    let request = (LaunchMode::Resume, Some(&unknown), None);
    assert!(CursorVendor.command(&plan(&session, &home.disk, request)).is_err());
    assert!(
        CursorVendor
            .command(&plan(&session, &home.disk, (LaunchMode::Resume, None, None)))
            .is_err()
    );
}

#[test]
fn own_arguments_set_the_permission_and_choose_only_the_first_conversation() {
    let home = Home::new();
    home.write(&format!("chats/x/{ID}/store.db"), "");
    let words = ["--plan", "--resume", "an-id", "--continue", "--resume=x", "--sandbox", "enabled"];
    let args = words.map(String::from).to_vec();
    let session = Session { args, permission: Permission::Auto, ..at(&home) };
    let id = VendorSessionId::new(ID);
    let command = |mode, id| {
        CursorVendor.command(&plan(&session, &home.disk, (mode, id, None))).unwrap().arguments
    };
    let fresh = command(LaunchMode::Fresh, None);
    assert_eq!(fresh[2..9], words);
    let resumed = command(LaunchMode::Resume, Some(&id));
    assert_eq!(resumed[2..5], ["--plan", "--sandbox", "enabled"]);
    assert!(!resumed.contains(&"--force".to_owned()));
}
