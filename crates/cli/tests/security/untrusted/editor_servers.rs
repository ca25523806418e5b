//! The MCP servers of an editor reach the sessions that the editor opens, and no others.

use std::collections::BTreeMap;

use segue_core::rules::editor_servers::{self, EditorServer};
use segue_testkit::scene::{kill, pid, wait_session};
use segue_testkit::stand_in::StandIn;
use segue_testkit::{EditorClient, World, files, launches, processes};
use serde_json::{Value, json};

use super::script_agent::write_marking_program;
use crate::world;

/// The servers as an editor sends them.
const SERVERS: &str = r#"[{"name": "files", "command": "/bin/cat", "args": [], "env": []}]"#;

/// A script that starts a session as an editor inside of an agent, and prints the answer.
const EDITOR: &str = r#"
mkfifo in out
$SEGUE acp --vendor gemini <in >out &
exec 3>in 4<out
echo "$REQUEST" >&3
while read -r line <&4; do
    echo "$line"
    case $line in *'"id":7'*) break ;; esac
done
exec 3>&- 4<&-
wait
"#;

/// Creates a world with a program of a vendor that uses MCP servers.
fn world_with_gemini() -> World {
    let mut world = world();
    let programs = write_marking_program(&world, ("programs", "gemini"));
    world.set("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()));
    world
}

/// Returns the value of the variable for a server.
fn definitions() -> String {
    let command = "/bin/cat".to_owned();
    let (args, env) = (Vec::new(), BTreeMap::new());
    let server = EditorServer { name: "files".to_owned(), command, args, env };
    editor_servers::variable(vec![server]).unwrap().unwrap()
}

fn variable(session: &Value) -> Option<String> {
    processes::variable(pid(session, "pid"), editor_servers::VARIABLE)
}

/// Returns the settings of MCP servers in the newest launch of a session. Empty without any.
fn registered(world: &World, session: &Value) -> String {
    let (folder, _) = launches::newest(world, session);
    std::fs::read_to_string(folder.join("mcp.json")).unwrap_or_default()
}

#[test]
fn agent_passes_on_no_servers_and_brings_none_as_an_editor() {
    let mut world = world_with_gemini();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "coder", "hello"]);
    // The agent's own launch has the servers of an editor.
    world.set(editor_servers::VARIABLE, definitions());
    let agent = StandIn::with_new_daemon(&world, &world.session("coder"));
    let inherited = agent.run("$SEGUE run -d --vendor gemini --name inherited hello");
    assert_eq!(inherited.status, 0, "{inherited:#?}");
    let servers: Value = serde_json::from_str(SERVERS).unwrap();
    let params = json!({"cwd": world.project(), "mcpServers": servers});
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": "session/new", "params": params});
    let brought = agent.run(&format!("REQUEST='{request}'\n{EDITOR}"));
    assert!(brought.stdout.contains("sessionId"), "{brought:#?}");
    let children = world.sessions();
    let children: Vec<&Value> = children.iter().filter(|it| it["vendor"] == "gemini").collect();
    assert_eq!(children.len(), 2, "{children:#?}");
    for child in children {
        assert_eq!((variable(child), registered(&world, child)), (None, String::new()));
    }
    assert!(files::containing(&world.segue_home(), editor_servers::SUBCOMMAND).is_empty());
}

#[test]
fn variable_of_an_outer_launch_brings_no_servers() {
    let mut world = world_with_gemini();
    world.set(editor_servers::VARIABLE, definitions());
    world.ok(["run", "-d", "--vendor", "gemini", "--name", "fox", "hello"]);
    let fox = world.session("fox");
    assert_eq!((variable(&fox), registered(&world, &fox)), (None, String::new()));
}

#[test]
fn servers_stay_at_an_automatic_restart_and_are_gone_after_a_reboot() {
    let world = world_with_gemini();
    let servers: Value = serde_json::from_str(SERVERS).unwrap();
    let params = json!({"cwd": world.project(), "mcpServers": servers});
    let mut client = EditorClient::start(&world, &["--vendor", "gemini"]);
    client.ok("session/new", &params);
    let first = world.sessions().remove(0);
    let name = first["name"].as_str().unwrap().to_owned();
    assert_eq!(variable(&first), Some(definitions()));
    assert!(registered(&world, &first).contains(r#"["mcp-relay","files"]"#));
    let recorded = launches::newest_json(&world, &first)["launch"]["environment"].to_string();
    for name in [editor_servers::VARIABLE, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"] {
        assert!(!recorded.contains(name), "{recorded}");
    }
    kill(pid(&first, "pid"));
    let second = wait_session(&world, &name, |it| it["launches"] == 2 && it["pid"].is_u64());
    assert_eq!(variable(&second), Some(definitions()));
    assert!(registered(&world, &second).contains(r#"["mcp-relay","files"]"#));
    drop(client);
    world.kill_everything();
    // The program shows no conversation, for which the command waits.
    let mut resuming = world.command(["resume", "--fresh", &name]).spawn().unwrap();
    let third = wait_session(&world, &name, |it| it["launches"] == 3 && it["pid"].is_u64());
    assert_eq!((variable(&third), registered(&world, &third)), (None, String::new()));
    resuming.kill().unwrap();
    resuming.wait().unwrap();
}
