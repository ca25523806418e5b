//! What a session keeps: its transcript, its folder, its settings.

use std::fs;

use crate::trial::Trial;
use crate::world::Outcome;

pub(super) fn deleted(trial: &mut Trial) {
    let session = trial.told("a", "remember ALPHA");
    trial.assert_carries("a", &["remember ALPHA"], "remember BETA");
    trial.settled("a");
    trial.world.kill_everything();
    fs::remove_file(trial.transcript(&session)).expect("a transcript");
    trial.world.resume(["a"]).assert_back("a", "restored");
    trial.assert_carries("a", &["remember ALPHA", "remember BETA"], "which words were they?");
}

pub(super) fn folder(trial: &mut Trial) {
    let before = trial.told("a", "remember ALPHA");
    trial.world.kill_everything();
    let elsewhere = trial.world.root().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let id = before["id"].as_str().expect("an id");
    let mut resume = trial.world.command(["resume", id, "--json"]);
    let outcome = Outcome::of(resume.current_dir(&elsewhere));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    trial.wait_idle("a");
    let agent = trial.world.session("a")["pid"].as_u64().expect("an agent");
    let folder = fs::read_link(format!("/proc/{agent}/cwd")).expect("a folder");
    assert_eq!(folder, trial.project());
    trial.assert_carries("a", &["remember ALPHA"], "which word was it?");
}

pub(super) fn settings(trial: &mut Trial) {
    let model = trial.rehearsal.other_model.expect("another model");
    let vendor = trial.vendor();
    trial.world.write(
        "segue.toml",
        &format!(
            "[[agents]]\nname = \"a\"\nvendor = \"{vendor}\"\nmodel = \"{model}\"\n\
             permission = \"auto\"\nprompt = \"p.md\"\ninstructions = \"i.md\"\n\
             env = {{ EXAMPLE = \"kept\" }}\n"
        ),
    );
    trial.world.write("p.md", "remember ALPHA");
    trial.world.write("i.md", "ALWAYS BE KIND");
    trial.world.ok(["trust", "--yes"]);
    trial.world.ok(["up"]);
    trial.model.wait_answered("remember ALPHA");
    trial.settled("a");
    let told = |word: &str| {
        let asked = trial.ask("a", &format!("{word} [[tool: echo $EXAMPLE > {word}]]"));
        let sent = format!("{} {}", asked.path, asked.body);
        assert!(sent.contains(model), "{word}: another model: {sent}");
        assert!(sent.contains("ALWAYS BE KIND"), "{word}: no instructions: {sent}");
        let value = fs::read_to_string(trial.world.project().join(word)).expect("a file");
        assert_eq!(value.trim(), "kept", "{word}");
    };
    told("before");
    trial.kill_and_resume();
    trial.wait_idle("a");
    told("after");
}
