//! Clients that other programs make from the OpenAPI document. `scripts/clients` installs them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use segue_testkit::{NetworkClient, World};
use tempfile::TempDir;

use super::world_with;

/// Returns a folder of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the folder with the installed programs.
fn installed() -> PathBuf {
    let place = std::env::var_os("SEGUE_TEST_CLIENTS");
    let place = place.map_or_else(|| repository("target/clients"), PathBuf::from);
    assert!(place.join("stamp").exists(), "run `make clients`: {} is missing", place.display());
    place.canonicalize().unwrap()
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    output
}

/// Runs a program that uses the daemon over TCP.
fn run_client(command: &mut Command, world: &World, client: &NetworkClient) {
    command
        .env("SEGUE_URL", format!("http://{}", client.address))
        .env("SEGUE_TOKEN", client.token())
        .env("SEGUE_FOLDER", world.project());
    let output = run(command);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "ok");
}

#[test]
fn linter_has_no_objection_to_the_openapi_document() {
    let place = installed();
    let folder = TempDir::new().unwrap();
    symlink(place.join("node_modules"), folder.path().join("node_modules")).unwrap();
    let script = folder.path().join("lint.mjs");
    fs::copy(repository("crates/testkit/clients/lint.mjs"), &script).unwrap();
    run(Command::new("node").arg(script).arg(repository("docs/openapi.json")));
}

#[test]
fn generated_python_client_runs_sessions_and_reads_typed_errors_and_metrics() {
    let place = installed();
    let (world, client) = world_with(&["fox"]);
    let folder = TempDir::new().unwrap();
    let programs = place.join("venv/bin");
    run(Command::new(programs.join("openapi-python-client"))
        .args(["generate", "--meta", "none", "--path"])
        .arg(repository("docs/openapi.json"))
        .arg("--output-path")
        .arg(folder.path().join("segue_client"))
        .env("PATH", format!("{}:/usr/bin:/bin", programs.display())));
    let script = repository("crates/testkit/clients/client.py");
    let mut command = Command::new(programs.join("python"));
    command.arg(script).env("PYTHONPATH", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    run_client(&mut command, &world, &client);
}

#[test]
fn generated_typescript_client_runs_sessions_and_reads_events_and_typed_errors() {
    let place = installed();
    let (world, client) = world_with(&["fox"]);
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink(place.join("node_modules"), at("node_modules")).unwrap();
    fs::write(at("package.json"), r#"{ "type": "module" }"#).unwrap();
    fs::copy(repository("crates/testkit/clients/client.ts"), at("client.ts")).unwrap();
    let programs = place.join("node_modules/.bin");
    run(Command::new(programs.join("openapi-typescript"))
        .arg(repository("docs/openapi.json"))
        .arg("--output")
        .arg(at("api.ts")));
    run(Command::new(programs.join("tsc"))
        .args(["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"])
        .args(["--skipLibCheck", "client.ts"])
        .current_dir(folder.path()));
    run_client(Command::new("node").arg(at("client.js")), &world, &client);
}
