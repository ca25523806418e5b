//! MCP servers of an editor: the vendor's real program starts them by the relay, and the scripted
//! model calls their tools.

use segue_testkit::acp_packages::assert_schema;
use segue_testkit::editor_client::texts;
use segue_testkit::scene::{kill, pid};
use segue_testkit::vendor_scene::{PinnedVendor, VendorScene};
use segue_testkit::{EditorClient, files, processes};
use serde_json::{Value, json};

use super::mcp::{private_temporary_folder, tool_results};
use crate::scene;

const SECRET: &str = "amber-in-the-environment";
const SECRET_ARGUMENT: &str = "heron-in-the-arguments";

/// An MCP server with the tool `probe_look`. It answers with its folder, and with its secrets from the
/// last character to the first, so that they are in no transcript.
const SERVER: &str = r#"#!/usr/bin/perl
use strict;
use warnings;
use Cwd;
use JSON::PP;
$| = 1;
my $json = JSON::PP->new->canonical;
my $relayed = exists $ENV{SEGUE_EDITOR_SERVERS} ? "relayed" : "clean";
my %answers = (
    "initialize" => sub {
        return {
            protocolVersion => $_[0]{protocolVersion},
            capabilities => {tools => {}},
            serverInfo => {name => "probe", version => "1"},
        };
    },
    "tools/list" => sub {
        my %tool = (name => "probe_look", description => "Looks");
        $tool{inputSchema} = {type => "object", properties => {}};
        # Codex asks before it calls any other tool.
        $tool{annotations} = {readOnlyHint => JSON::PP::true};
        return {tools => [\%tool]};
    },
    "tools/call" => sub {
        my @seen = (scalar reverse($ENV{TOKEN}), scalar reverse($ARGV[0]), getcwd(), $relayed);
        return {content => [{type => "text", text => join(" ", @seen)}]};
    },
    "ping" => sub { return {} },
);
while (my $line = <STDIN>) {
    my $message = $json->decode($line);
    next if !defined $message->{id} || !defined $message->{method};
    my $answer = $answers{$message->{method}};
    my %reply = (jsonrpc => "2.0", id => $message->{id});
    if ($answer) {
        $reply{result} = $answer->($message->{params});
    } else {
        $reply{error} = {code => -32601, message => "unknown method"};
    }
    print $json->encode(\%reply), "\n";
}
"#;

/// Installs the server. Returns the list of servers as an editor sends it.
fn servers<V>(scene: &VendorScene<V>) -> Value {
    let program = scene.world.root().join("servers/probe");
    files::write_program(&program, SERVER);
    let env = json!([{"name": "TOKEN", "value": SECRET}]);
    json!([{"name": "my probe", "command": program, "args": [SECRET_ARGUMENT], "env": env}])
}

/// Lets the agent call the tool, after a turn in which its program connects to the server.
fn look<V>(
    scene: &VendorScene<V>,
    (client, session): (&mut EditorClient, &str),
    (message, count): (&str, usize),
) {
    client.prompt(session, &format!("{message} begins"));
    let text = format!("{message} [[mcp: probe_look {{}}]] [[say: LOOKED]]");
    let prompt = client.begin_prompt(session, &text);
    let answer = client.answer_allowing(prompt);
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    let results = tool_results(&scene.model, &text, count);
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    let folder = scene.world.project();
    let (secret, argument) = (backwards(SECRET), backwards(SECRET_ARGUMENT));
    let expected = format!("{secret} {argument} {} clean", folder.display());
    assert!(results.last().unwrap().contains(&expected), "{results:?}");
}

/// Asserts that no file, no record and no argument of a process has a secret of the server. Its own
/// arguments are those that the editor has given it.
fn assert_no_trace<V>(scene: &VendorScene<V>) {
    for secret in [SECRET, SECRET_ARGUMENT] {
        let hexadecimal: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        for text in [secret, &hexadecimal] {
            let found = files::containing(scene.world.root(), text);
            assert!(found.is_empty(), "{found:#?}");
            for arguments in [["log", "--json"], ["ls", "--json"]] {
                assert!(!scene.world.ok(arguments).contains(text));
            }
            let all = processes::mentioning(scene.world.root());
            let lines = all.into_iter().map(processes::command_line);
            let shown = lines.filter(|words| words.iter().any(|word| word.contains(text)));
            let is_server = |words: &Vec<String>| words.iter().any(|it| it.ends_with("/probe"));
            let shown: Vec<_> = shown.filter(|it| text == SECRET || !is_server(it)).collect();
            assert!(shown.is_empty(), "{shown:?}");
        }
    }
}

fn server_of_the_editor_is_used_and_its_secrets_are_nowhere<V: PinnedVendor>() {
    private_temporary_folder();
    let mut scene = scene::<V>();
    // The scripted model cannot search for tools that Claude Code offers only after a search.
    scene.world.set("ENABLE_TOOL_SEARCH", "false");
    let mut client = EditorClient::start(&scene.world, V::RUN);
    let params = json!({"cwd": scene.world.project(), "mcpServers": servers(&scene)});
    let made = client.ok("session/new", &params);
    let session = made["sessionId"].as_str().unwrap().to_owned();
    look(&scene, (&mut client, &session), ("first", 1));
    assert_no_trace(&scene);

    let before = scene.world.sessions().remove(0);
    kill(pid(&before, "pid"));
    let name = before["name"].as_str().unwrap();
    scene.wait_session(name, |it| it["launches"] == 2 && it["status"] == "idle");
    look(&scene, (&mut client, &session), ("restarted", 2));
    assert_no_trace(&scene);
    assert_schema(&client.traffic);
}

test_each!(
    server_of_the_editor_is_used_and_its_secrets_are_nowhere:
    claude, codex, copilot, gemini, opencode
);

fn editor_is_told_that_its_servers_cannot_be_used<V: PinnedVendor>() {
    let scene = scene::<V>();
    let mut client = EditorClient::start(&scene.world, V::RUN);
    let params = json!({"cwd": scene.world.project(), "mcpServers": servers(&scene)});
    let made = client.ok("session/new", &params);
    let (answer, updates) = client.prompt(made["sessionId"].as_str().unwrap(), "hello");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    let note = format!("`{}` cannot use the MCP servers", V::NAME);
    let shown = texts(&updates, "agent_message_chunk");
    assert!(shown.iter().any(|text| text.contains(&note)), "{shown:?}");
    let agent = pid(&scene.world.sessions()[0], "pid");
    assert_eq!(processes::variable(agent, "SEGUE_EDITOR_SERVERS"), None);
}

test_each!(editor_is_told_that_its_servers_cannot_be_used: pi);
