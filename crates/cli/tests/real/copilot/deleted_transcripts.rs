//! Deleted conversations.

use std::fs;

use segue_testkit::isolated;

use super::scene;

#[test]
fn deleted_conversation_is_restored_with_its_pasted_text() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        let long: String = (0..2_000).map(|n| format!("line {n} of a long text\n")).collect();
        let send = ["send", "coder", "--wait", "--timeout", "60s", "-"];
        let sent = scene.world.with_input(send, long.as_bytes());
        assert_eq!(sent.status, 0, "{sent:#?}");
        scene.world.kill_everything();
        fs::remove_dir_all(scene.transcript(&session).parent().unwrap()).unwrap();
        scene.world.resume(["coder"]).assert_back("coder", "restored");
        let next = scene.ask_and_wait("coder", "which word?");
        let [first, pasted, _] = next.user_texts().try_into().unwrap();
        assert_eq!(first, "remember ALPHA");
        // Copilot stores a long message in a file and tells the model to read it. That file is
        // restored, too.
        let (_, file) = pasted.split_once("<pasted_content file=\"").unwrap();
        let file = file.split('"').next().unwrap();
        assert_eq!(fs::read_to_string(file).unwrap().trim(), long.trim());
    });
}
