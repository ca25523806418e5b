//! The configuration with which Pi runs against a fake model, for trials without an account.

use segue_core::ports::{NewFile, Rehearsal, TrialSetup};
use serde_json::json;

pub(super) fn rehearsal(setup: &TrialSetup<'_>) -> Rehearsal {
    let model = |id| json!({"id": id, "contextWindow": 200_000, "maxTokens": 8000});
    let provider = json!({
        "baseUrl": format!("{}/v1", setup.model), "api": "openai-completions",
        "apiKey": setup.key, "models": [model("scripted-1"), model("scripted-2")],
    });
    let models = json!({"providers": {"scripted": provider}});
    // Switch off long retries.
    let settings = json!({
        "defaultProvider": "scripted", "defaultModel": "scripted-1",
        "retry": {"maxRetries": 1, "baseDelayMs": 100, "provider": {"maxRetries": 0}},
    });
    let folder = setup.home.join(".pi/agent");
    let file = |name, value: serde_json::Value| NewFile {
        path: folder.join(name),
        contents: value.to_string(),
    };
    Rehearsal {
        environment: vec![("PI_OFFLINE", "1".to_owned()), ("PI_TELEMETRY", "0".to_owned())],
        files: vec![file("models.json", models), file("settings.json", settings)],
        new_conversation_command: Some("/new"),
        other_model: Some("scripted-2"),
        exempt: &[("permission", "it never asks for permission")],
    }
}
