//! Prompts and instructions are not in the records that people read or share.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use segue_testkit::{World, launches, processes, scene};

use crate::world;

/// Creates a world with an agent whose prompt and instructions are private.
fn world_with_private_texts() -> World {
    let world = world();
    world.write("role.md", "--be kind to every-customer,\nalways \u{1f98a}");
    world.write("start.md", "remember the word private-heron");
    scene::write_shop(&world, "instructions = \"role.md\"\nprompt = \"start.md\"\n");
    world.ok(["up"]);
    scene::wait_first_turns(&world);
    world
}

#[test]
fn session_json_contains_neither_the_prompt_nor_the_instructions() {
    let world = world_with_private_texts();
    let (folder, record) = launches::newest(&world, &world.session("coder"));
    let text = fs::read_to_string(folder.join("session.json")).unwrap();
    for word in ["private-heron", "every-customer"] {
        assert!(!text.contains(word), "{text}");
    }
    assert!(record.cli_command.iter().any(|word| word.contains("<message>")), "{record:#?}");
    assert_eq!(record.cli_command, record.launch.argv);
    let texts = folder.join("texts.json");
    assert!(fs::read_to_string(&texts).unwrap().contains("private-heron"));
    assert_eq!(fs::metadata(&texts).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn store_that_is_rebuilt_from_launch_folders_has_the_instructions_again() {
    let world = world_with_private_texts();
    world.kill_everything();
    for name in
        ["segue.db", "segue.db-wal", "segue.db-shm", "segue.db.backup", "segue.db.backup-older"]
    {
        let _absent = fs::remove_file(world.database().with_file_name(name));
    }
    world.ok(["doctor", "--fix"]);
    world.resume(["coder"]).assert_back("coder", "resumed");
    scene::assert_knows(&world, "coder", "private-heron");
    let pid = scene::pid(&world.session("coder"), "pid");
    let arguments = processes::command_line(pid).join("\n");
    assert!(arguments.contains("every-customer"), "{arguments}");
}
