//! The configuration with which Gemini CLI runs against a fake model, for trials without an
//! account.

use segue_core::ports::{NewFile, Rehearsal, TrialSetup};
use serde_json::{Value, json};

pub(super) fn rehearsal(setup: &TrialSetup<'_>) -> Rehearsal {
    let settings = json!({
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": true},
        },
        "general": {"enableAutoUpdate": false, "maxAttempts": 2},
        "privacy": {"usageStatisticsEnabled": false},
        "ui": {"theme": "Default"},
    });
    let trusted = json!({setup.project.display().to_string(): "TRUST_FOLDER"});
    let file = |name: &str, contents: &Value| NewFile {
        path: setup.home.join(".gemini").join(name),
        contents: contents.to_string(),
    };
    Rehearsal {
        environment: vec![
            ("GEMINI_API_KEY", setup.key.to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", setup.model.to_owned()),
            // Without this variable, Gemini first asks a smaller model which model to use.
            ("GEMINI_MODEL", "gemini-2.5-flash".to_owned()),
        ],
        files: vec![file("settings.json", &settings), file("trustedFolders.json", &trusted)],
        new_conversation_command: Some("/clear"),
        other_model: Some("gemini-2.5-pro"),
        exempt: &[],
    }
}
