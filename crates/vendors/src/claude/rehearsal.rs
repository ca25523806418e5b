//! The configuration with which Claude Code runs against a fake model, for trials without an
//! account.

use segue_core::ports::{NewFile, Rehearsal, TrialSetup};
use serde_json::json;

/// How many characters at the end of an API key Claude Code records in its settings when the user
/// approves the key.
const APPROVED_KEY_CHARACTERS: usize = 20;

/// Environment variables that turn off long retries, and features that a conversation does not
/// need.
const QUIET_VARIABLES: [(&str, &str); 6] = [
    // Makes Claude Code accept the permission `auto` even as root.
    ("IS_SANDBOX", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL", "1"),
];

pub(super) fn rehearsal(setup: &TrialSetup<'_>) -> Rehearsal {
    let mut environment = vec![
        ("ANTHROPIC_BASE_URL", setup.model.to_owned()),
        ("ANTHROPIC_API_KEY", setup.key.to_owned()),
    ];
    environment.extend(QUIET_VARIABLES.map(|(name, value)| (name, value.to_owned())));
    let start = setup.key.len().saturating_sub(APPROVED_KEY_CHARACTERS);
    let mut settings = json!({
        "hasCompletedOnboarding": true,
        "customApiKeyResponses": {"approved": [&setup.key[start..]], "rejected": []},
        "projects": {},
    });
    settings["projects"][setup.project.display().to_string()] =
        json!({"hasTrustDialogAccepted": true});
    let file = setup.home.join(".claude.json");
    Rehearsal {
        environment,
        files: vec![NewFile { path: file, contents: settings.to_string() }],
        new_conversation_command: Some("/clear"),
        other_model: Some("claude-haiku-4-5"),
        exempt: &[],
    }
}
