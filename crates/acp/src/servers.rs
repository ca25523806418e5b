//! The MCP servers that the editor brings to its sessions. Their definitions can hold secrets: they
//! are in the memory of this process, and in the environment of the requests that can start an agent.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::api::Caller;
use segue_core::model::{SecretText, SessionId};
use segue_core::rules::editor_servers::{self, EditorServer};
use segue_core::{Error, Result};
use serde_json::Value;

/// The servers of one session.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionServers {
    /// The value of the variable. `None` without servers.
    definitions: Option<SecretText>,
}

impl SessionServers {
    /// Parses the servers of a request. No error contains an argument or a value.
    pub(crate) fn parse(list: &Value) -> Result<Self> {
        let servers = match list {
            Value::Null => Vec::new(),
            Value::Array(entries) => entries.iter().map(server).collect::<Result<_>>()?,
            _ => return Err(Error::usage("`mcpServers` must be a list")),
        };
        let definitions = editor_servers::variable(servers)?.map(SecretText::new);
        Ok(Self { definitions })
    }

    /// Adds the servers to the environment of a request.
    pub(crate) fn given_to(&self, mut caller: Caller) -> Caller {
        if let Some(definitions) = &self.definitions {
            caller.environment.set(editor_servers::VARIABLE, definitions.expose());
        }
        caller
    }
}

fn server(entry: &Value) -> Result<EditorServer> {
    let Some(name) = entry["name"].as_str() else {
        return Err(Error::usage("an MCP server of the editor has no name"));
    };
    let shown = editor_servers::shown(name);
    match entry["type"].as_str() {
        None | Some("stdio") => {}
        Some(other) => {
            let other = editor_servers::shown(other);
            return Err(Error::usage(format!("the MCP server `{shown}` has the type `{other}`"))
                .caused_by("Segue passes on servers that are started by a command")
                .hint("add the server to the settings of the agent's program"));
        }
    }
    let wrong = |field: &str| {
        Error::usage(format!("`{field}` of the MCP server `{shown}` is missing or wrong"))
            .hint("a server has a `name`, a `command`, `args` and `env`")
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let variable = |entry: &Value| Some((text(&entry["name"])?, text(&entry["value"])?));
    let args: Option<_> = list(&entry["args"]).and_then(|it| it.iter().map(text).collect());
    let env: Option<_> = list(&entry["env"]).and_then(|it| it.iter().map(variable).collect());
    Ok(EditorServer {
        name: name.to_owned(),
        command: text(&entry["command"]).ok_or_else(|| wrong("command"))?,
        args: args.ok_or_else(|| wrong("args"))?,
        env: env.ok_or_else(|| wrong("env"))?,
    })
}

/// Returns the entries of a list that may be missing.
fn list(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Null => Some(&[]),
        _ => value.as_array().map(Vec::as_slice),
    }
}

/// The servers of all sessions that the editor has opened.
#[derive(Debug, Default)]
pub(crate) struct ServerRegistry {
    sessions: Mutex<HashMap<SessionId, RegisteredServers>>,
}

#[derive(Debug)]
struct RegisteredServers {
    servers: SessionServers,
    /// Whether the editor has got the note that the agent's program cannot use them.
    is_noted: bool,
}

impl ServerRegistry {
    /// Replaces the servers of a session.
    pub(crate) fn set(&self, session: SessionId, servers: SessionServers) {
        match servers.definitions {
            Some(_) => {
                let registered = RegisteredServers { servers, is_noted: false };
                self.lock().insert(session, registered);
            }
            None => self.forget(session),
        }
    }

    pub(crate) fn forget(&self, session: SessionId) {
        self.lock().remove(&session);
    }

    pub(crate) fn of(&self, session: SessionId) -> SessionServers {
        self.lock().get(&session).map(|it| it.servers.clone()).unwrap_or_default()
    }

    /// Returns whether the session has servers, and this was not asked before.
    pub(crate) fn needs_note(&self, session: SessionId) -> bool {
        let mut sessions = self.lock();
        sessions.get_mut(&session).is_some_and(|it| !std::mem::replace(&mut it.is_noted, true))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, RegisteredServers>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use segue_core::model::Environment;
    use serde_json::json;

    use super::*;

    fn caller() -> Caller {
        Caller { cwd: "/".into(), environment: Environment::default() }
    }

    #[test]
    fn servers_are_in_one_variable_of_the_request() {
        let list = json!([
            {"name": "my files", "command": "/bin/files", "args": ["-v"],
             "env": [{"name": "TOKEN", "value": "hush"}]},
            {"type": "stdio", "name": "bare", "command": "npx"},
        ]);
        let given = SessionServers::parse(&list).unwrap().given_to(caller());
        assert_eq!(given.environment.names(), [editor_servers::VARIABLE]);
        let servers = editor_servers::servers(&given.environment);
        assert_eq!((servers[0].name.as_str(), servers[1].name.as_str()), ("my-files", "bare"));
        assert_eq!(
            (&*servers[0].args, &*servers[0].env["TOKEN"]),
            (&["-v".to_owned()][..], "hush")
        );
        for none in [json!([]), Value::Null] {
            let given = SessionServers::parse(&none).unwrap().given_to(caller());
            assert_eq!(given.environment, Environment::default());
        }
    }

    #[test]
    fn wrong_servers_are_refused_without_their_secrets() {
        let changed = |field: &str, value: Value| {
            let mut entry = json!({"name": "files", "command": "/x", "args": [], "env": []});
            entry[field] = value;
            json!([entry])
        };
        let table = [
            (json!({"hush": 1}), "must be a list"),
            (json!(["hush"]), "has no name"),
            (changed("name", json!(5)), "has no name"),
            (changed("command", json!(["hush"])), "`command` of the MCP server `files`"),
            (changed("command", json!("./hush")), "absolute path"),
            (changed("args", json!("hush")), "`args` of"),
            (changed("args", json!(["hush", 5])), "`args` of"),
            (changed("env", json!({"TOKEN": "hush"})), "`env` of"),
            (changed("env", json!([{"name": "TOKEN", "value": ["hush"]}])), "`env` of"),
            (changed("env", json!([{"name": "SEGUE_HOME", "value": "hush"}])), "reserved"),
            (changed("type", json!("http")), "has the type `http`"),
            (changed("type", json!("sse")), "has the type `sse`"),
        ];
        for (list, part) in table {
            let error = SessionServers::parse(&list).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(text.contains(part) && !text.contains("hush"), "{text}");
            assert_eq!(error.kind, segue_core::Kind::Usage);
        }
    }
}
