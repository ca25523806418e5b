//! What the editor can choose: the modes, the model, and commands of the vendor's program.

use segue_core::api::{ProgramCommandView, SessionOptions, SessionView, SettingsRequest};
use segue_core::model::Permission;
use segue_core::{Error, Result};
use serde_json::{Value, json};

use crate::protocol::{
    CommandHint, ConfigOption, ConfigValue, EditorCommand, EditorMode, SessionModes, SessionUpdate,
};

/// The id of the option with the permission. Its values are the ids of the modes.
const MODE: &str = "mode";

/// The id of the option with the model.
const MODEL: &str = "model";

/// The value of the vendor's default model.
const DEFAULT_MODEL: &str = "default";

/// The choices of a session, and what is chosen now.
#[derive(Clone, Debug)]
pub(crate) struct EditorOptions {
    permission: Option<Permission>,
    model: Option<String>,
    options: SessionOptions,
}

impl EditorOptions {
    pub(crate) fn new(view: &SessionView, options: SessionOptions) -> Self {
        let permission = view.permission.as_ref().and_then(|it| it.known());
        Self { permission, model: view.model.clone(), options }
    }

    /// Adds the choices to the answer that opens a session.
    pub(crate) fn add_to(&self, answer: &mut Value) {
        if let Some(modes) = self.modes() {
            answer["modes"] = json!(modes);
        }
        answer["configOptions"] = json!(self.config_options());
    }

    /// Returns the updates after a change of the settings.
    pub(crate) fn updates(&self) -> Vec<SessionUpdate> {
        let mode = self.modes().map(|modes| SessionUpdate::CurrentModeUpdate {
            current_mode_id: modes.current_mode_id,
        });
        let config_options = self.config_options();
        let options = SessionUpdate::ConfigOptionUpdate { config_options };
        mode.into_iter().chain([options]).collect()
    }

    pub(crate) fn has_commands(&self) -> bool {
        !self.options.commands.is_empty()
    }

    /// Returns the update with the commands.
    pub(crate) fn commands_update(&self) -> SessionUpdate {
        let available_commands = self.options.commands.iter().map(command).collect();
        SessionUpdate::AvailableCommandsUpdate { available_commands }
    }

    /// Returns the modes. `None` if the vendor's program has no permissions.
    fn modes(&self) -> Option<SessionModes> {
        let current = self.permission.filter(|it| self.options.permissions.contains(it))?;
        let available_modes = self.options.permissions.iter().map(|it| mode(*it)).collect();
        Some(SessionModes { current_mode_id: current.word().to_owned(), available_modes })
    }

    pub(crate) fn config_options(&self) -> Vec<ConfigOption> {
        let select = |id, name, current_value, options| ConfigOption {
            id,
            name,
            category: id,
            kind: "select",
            current_value,
            options,
        };
        let mode = self.modes().map(|modes| {
            let value = |it: EditorMode| ConfigValue { value: it.id.into(), name: it.name.into() };
            let values = modes.available_modes.into_iter().map(value).collect();
            select(MODE, "Permission", modes.current_mode_id, values)
        });
        let model = self.model.clone().unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        mode.into_iter().chain([select(MODEL, "Model", model, self.models())]).collect()
    }

    /// Returns the models: the default, the known ones, and the one of the session.
    fn models(&self) -> Vec<ConfigValue> {
        let named = self.options.models.iter().chain(&self.model);
        let mut values = vec![ConfigValue {
            value: DEFAULT_MODEL.to_owned(),
            name: "Default of the program".to_owned(),
        }];
        for model in named {
            if !values.iter().any(|known| known.value == *model) {
                values.push(ConfigValue { value: model.clone(), name: model.clone() });
            }
        }
        values
    }
}

/// Returns the request that sets an option of a session.
pub(crate) fn change(session: &SessionView, id: &str, value: &str) -> Result<SettingsRequest> {
    let request = SettingsRequest {
        cwd: "/".into(),
        session: session.session.to_string(),
        model: None,
        permission: None,
    };
    match id {
        MODE => Ok(SettingsRequest { permission: Some(permission(value)?), ..request }),
        MODEL => {
            let model = if value == DEFAULT_MODEL { String::new() } else { value.to_owned() };
            Ok(SettingsRequest { model: Some(model), ..request })
        }
        _ => Err(Error::usage(format!("there is no option `{}`", id.escape_debug()))
            .hint(format!("the options are `{MODE}` and `{MODEL}`"))),
    }
}

/// Returns the request that sets the mode of a session.
pub(crate) fn mode_change(session: &SessionView, mode: &str) -> Result<SettingsRequest> {
    change(session, MODE, mode)
}

fn permission(word: &str) -> Result<Permission> {
    Permission::from_word(word).ok_or_else(|| {
        let words: Vec<&str> = Permission::ALL.iter().map(|it| it.word()).collect();
        Error::usage(format!("there is no mode `{}`", word.escape_debug()))
            .hint(format!("the modes are {}", words.join(", ")))
    })
}

fn mode(permission: Permission) -> EditorMode {
    let (name, description) = match permission {
        Permission::Ask => ("Ask", "Asks before it changes files or runs commands"),
        Permission::AcceptEdits => ("Accept edits", "Changes files without asking"),
        Permission::Auto => ("Auto", "Does everything without asking"),
    };
    EditorMode { id: permission.word(), name, description }
}

fn command(view: &ProgramCommandView) -> EditorCommand {
    let ProgramCommandView { name, description, arguments } = view.clone();
    let hint = |text: String| if text.is_empty() { "arguments".to_owned() } else { text };
    let input = arguments.map(|text| CommandHint { hint: hint(text) });
    EditorCommand { name, description, input }
}
