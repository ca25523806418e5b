//! The configuration with which `OpenCode` runs against a fake model, for trials without an
//! account.

use segue_core::ports::{NewFile, Rehearsal, TrialSetup};
use serde_json::json;

/// Environment variables that switch off requests to the network.
const OFFLINE_VARIABLES: [&str; 3] = [
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
];

const EXEMPT: [(&str, &str); 2] = [
    ("torn-tail", "its conversations are rows of a database, which has no torn lines"),
    ("deleted", "its conversations are rows of one database, which cannot be guarded one by one"),
];

pub(super) fn rehearsal(setup: &TrialSetup<'_>) -> Rehearsal {
    let model = |name: &str| json!({"name": name, "limit": {"context": 128_000, "output": 4096}});
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "scripted",
        "options": {"baseURL": format!("{}/v1", setup.model), "apiKey": setup.key},
        "models": {"scripted-1": model("scripted-1"), "scripted-2": model("scripted-2")},
    });
    let settings = json!({
        "autoupdate": false, "share": "disabled",
        "model": "scripted/scripted-1", "small_model": "scripted/scripted-1",
        "provider": {"scripted": provider},
    });
    // OpenCode would install this package before it loads a plugin. Without a network, the
    // installation would fail.
    let installed = json!({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}}});
    let file = |name: &str, contents: String| NewFile {
        path: setup.home.join(".config/opencode").join(name),
        contents,
    };
    Rehearsal {
        environment: OFFLINE_VARIABLES.map(|name| (name, "1".to_owned())).to_vec(),
        files: vec![
            file("opencode.json", settings.to_string()),
            file("package-lock.json", installed.to_string()),
            file("node_modules/.package-lock.json", "{}".to_owned()),
        ],
        new_conversation_command: Some("/new"),
        other_model: Some("scripted/scripted-2"),
        exempt: &EXEMPT,
    }
}
