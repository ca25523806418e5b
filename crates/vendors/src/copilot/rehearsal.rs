//! The configuration with which Copilot CLI runs against a fake model, for trials without an
//! account.

use segue_core::ports::{NewFile, Rehearsal, TrialSetup};
use serde_json::json;

/// Environment variables that switch off requests that are not part of a conversation.
const QUIET_VARIABLES: [(&str, &str); 2] =
    [("COPILOT_OFFLINE", "true"), ("COPILOT_AUTO_UPDATE", "false")];

pub(super) fn rehearsal(setup: &TrialSetup<'_>) -> Rehearsal {
    let mut environment = vec![
        ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", setup.model)),
        ("COPILOT_PROVIDER_API_KEY", setup.key.to_owned()),
        ("COPILOT_MODEL", "gpt-4.1".to_owned()),
        // Copilot unpacks itself before its first start, which takes long. All trials share the
        // unpacked program.
        ("COPILOT_PKG_CACHE_HOME", setup.shared.join("copilot-unpacked").display().to_string()),
    ];
    environment.extend(QUIET_VARIABLES.map(|(name, value)| (name, value.to_owned())));
    let config = json!({"trustedFolders": [setup.project.display().to_string()]});
    let file = setup.home.join(".copilot/config.json");
    Rehearsal {
        environment,
        files: vec![NewFile { path: file, contents: config.to_string() }],
        new_conversation_command: Some("/clear"),
        other_model: Some("gpt-5.4"),
        exempt: &[],
    }
}
