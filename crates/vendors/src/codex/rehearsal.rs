//! The configuration with which Codex runs against a fake model, for trials without an account.

use segue_core::ports::{NewFile, Rehearsal, TrialSetup};
use serde_json::json;

/// Environment variable with the provider's API key.
const KEY: &str = "SCRIPTED_MODEL_KEY";

pub(super) fn rehearsal(setup: &TrialSetup<'_>) -> Rehearsal {
    // A JSON string is a valid TOML string, too.
    let project = json!(setup.project.display().to_string());
    let settings = format!(
        r#"model = "scripted-1"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "{KEY}"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[tui]
resume_cwd = "session"
# Without a network, each run would wait for the list of plugins before it ends.
[features]
plugins = false
[projects.{project}]
trust_level = "trusted"
"#,
        model = setup.model
    );
    let file = setup.home.join(".codex/config.toml");
    Rehearsal {
        environment: vec![(KEY, setup.key.to_owned())],
        files: vec![NewFile { path: file, contents: settings }],
        new_conversation_command: Some("/new"),
        other_model: Some("scripted-2"),
        exempt: &[],
    }
}
