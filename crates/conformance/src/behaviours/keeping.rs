//! A session keeps its transcript, its folder and its settings across launches.

use std::fs;
use std::path::PathBuf;

use crate::expectation::expect;
use crate::trial::VendorTrial;
use crate::world::CommandOutcome;

pub(super) fn deleted(trial: &mut VendorTrial) {
    let session = trial.start_and_settle("a", "remember ALPHA");
    trial.expect_carried("a", &["remember ALPHA"], "remember BETA");
    trial.wait_settled("a");
    trial.wait_recorded(&session, "remember BETA");
    trial.world.kill_everything();
    fs::remove_file(trial.transcript(&session)).expect("a transcript");
    trial.world.resume(["a"]).assert_back("a", "restored");
    trial.expect_carried("a", &["remember ALPHA", "remember BETA"], "which words were they?");
}

pub(super) fn other_folder(trial: &mut VendorTrial) {
    let before = trial.start_and_settle("a", "remember ALPHA");
    trial.world.kill_everything();
    let elsewhere = trial.world.root().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let id = before["id"].as_str().expect("an id");
    let mut resume = trial.world.command(["resume", id, "--json"]);
    let outcome = CommandOutcome::of(resume.current_dir(&elsewhere));
    let expected = "`segue resume` in another folder brings the session back";
    expect(outcome.status == 0, expected, || outcome.to_string());
    trial.wait_idle("a");
    let (works_in, project) = (working_folder(trial), trial.project());
    expect(works_in == project, format!("it works in {}", project.display()), || {
        format!("it works in {}", works_in.display())
    });
    trial.expect_carried("a", &["remember ALPHA"], "which word was it?");
}

fn working_folder(trial: &VendorTrial) -> PathBuf {
    let agent = trial.world.session("a")["pid"].as_u64().unwrap_or_default();
    fs::read_link(format!("/proc/{agent}/cwd")).unwrap_or_default()
}

pub(super) fn settings_kept(trial: &mut VendorTrial) {
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
    trial.wait_answered("a", "remember ALPHA");
    trial.wait_settled("a");
    expect_settings(trial, "before", model);
    trial.kill_and_resume();
    trial.wait_idle("a");
    expect_settings(trial, "after", model);
}

/// Expects that a turn uses the session's model, instructions and environment.
fn expect_settings(trial: &VendorTrial, word: &str, model: &str) {
    let asked = trial.ask("a", &format!("{word} [[tool: echo $EXAMPLE > {word}]]"));
    let sent = format!("{} {}", asked.path, asked.body);
    expect(sent.contains(model), format!("{word} a resume it uses the model {model}"), || {
        format!("a request for model {}", asked.body["model"])
    });
    expect(
        sent.contains("ALWAYS BE KIND"),
        format!("{word} a resume its instructions reach the model"),
        || "a request without the instructions".to_owned(),
    );
    let value = fs::read_to_string(trial.world.project().join(word)).unwrap_or_default();
    expect(
        value.trim() == "kept",
        format!("{word} a resume its tools have the variable EXAMPLE=kept"),
        || format!("EXAMPLE={}", value.trim()),
    );
}
