//! The MCP servers that an editor brings to its sessions. Their arguments and environments can hold
//! secrets, so their definitions are in one variable of the agent's environment and nowhere else. The
//! program of the agent starts the command `segue mcp-relay NAME` for each of them, which becomes the
//! server.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::environment::check_variable;
use crate::error::{Error, Result};
use crate::model::Environment;

/// The variable with the definitions.
pub const VARIABLE: &str = "SEGUE_EDITOR_SERVERS";

/// The internal subcommand that becomes a server.
pub const SUBCOMMAND: &str = "mcp-relay";

/// An editor brings at most this many servers to a session.
const MAX_SERVERS: usize = 32;

/// The largest definitions, as JSON. The kernel's limit for a variable is 128 KiB, and the variable
/// has two digits for each byte.
const MAX_BYTES: usize = 48 * 1024;

/// The longest name, in characters. Vendors limit the names of tools, which contain it.
const MAX_NAME_CHARS: usize = 40;

/// The name of Segue's own server.
pub const RESERVED_NAME: &str = "segue";

/// An MCP server of an editor.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditorServer {
    pub name: String,
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
}

impl fmt::Debug for EditorServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditorServer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns the value of the variable for these servers. Their names become unique and get characters
/// that every vendor's program accepts. `None` if there are no servers. No error contains an argument
/// or a value.
pub fn variable(servers: Vec<EditorServer>) -> Result<Option<String>> {
    if servers.is_empty() {
        return Ok(None);
    }
    if servers.len() > MAX_SERVERS {
        let count = servers.len();
        return Err(Error::usage(format!(
            "a session gets at most {MAX_SERVERS} MCP servers of the editor, got {count}"
        ))
        .hint("switch some of them off in the editor's settings"));
    }
    servers.iter().try_for_each(check)?;
    let json = serde_json::to_string(&with_safe_names(servers))
        .map_err(|_| Error::internal("the MCP servers cannot be written"))?;
    if json.len() > MAX_BYTES {
        let length = json.len();
        return Err(Error::usage(format!(
            "the definitions of MCP servers must have at most {MAX_BYTES} bytes, got {length}"
        ))
        .hint("move long arguments and values into files that the servers read"));
    }
    Ok(Some(json.bytes().map(|byte| format!("{byte:02x}")).collect()))
}

fn check(server: &EditorServer) -> Result<()> {
    let EditorServer { name, command, args, env } = server;
    let wrong = |what: &str| Err(Error::usage(format!("the MCP server `{}` {what}", shown(name))));
    if name.is_empty() {
        return Err(Error::usage("an MCP server of the editor has no name"));
    }
    if command.is_empty() || command.contains('/') && !command.starts_with('/') {
        return wrong("needs a command that is an absolute path or the name of a program");
    }
    if command.contains('\0') || args.iter().any(|argument| argument.contains('\0')) {
        return wrong("has a command or an argument with a zero byte");
    }
    env.iter().try_for_each(|(name, value)| check_variable(name, value)).map_err(|error| {
        let context = format!("the MCP server `{}` cannot get its environment", shown(name));
        Error { message: context, ..error.clone() }.caused_by(error.message)
    })
}

/// Returns a name as an error shows it.
pub fn shown(name: &str) -> String {
    name.escape_debug().take(MAX_NAME_CHARS).collect()
}

fn with_safe_names(mut servers: Vec<EditorServer>) -> Vec<EditorServer> {
    let mut taken = HashSet::from([RESERVED_NAME.to_owned()]);
    for server in &mut servers {
        let safe: String = server.name.chars().map(safe_character).collect();
        let numbered = (2..).map(|number| format!("-{number}"));
        let mut names = std::iter::once(String::new()).chain(numbered).map(|end| {
            let begin: String = safe.chars().take(MAX_NAME_CHARS - end.len()).collect();
            begin + &end
        });
        // There are more numbers than servers.
        server.name = names.find(|name| taken.insert(name.to_lowercase())).unwrap_or_default();
    }
    servers
}

fn safe_character(character: char) -> char {
    if is_safe(character) { character } else { '-' }
}

fn is_safe(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

/// Returns the server with this name. No error contains a definition.
pub fn find(environment: &Environment, name: &str) -> Result<EditorServer> {
    servers(environment).into_iter().find(|server| server.name == name).ok_or_else(|| {
        let error = Error::not_found(format!("there is no MCP server `{}`", shown(name)));
        error.caused_by(format!("`{VARIABLE}` does not have it"))
    })
}

/// Returns the servers in an environment. Empty if it has none, or if they are not as
/// [`variable`] writes them.
pub fn servers(environment: &Environment) -> Vec<EditorServer> {
    environment.get(VARIABLE).and_then(read).unwrap_or_default()
}

fn read(value: &str) -> Option<Vec<EditorServer>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let (pairs, rest) = value.as_bytes().as_chunks::<2>();
    let bytes: Option<Vec<u8>> =
        pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect();
    let servers: Vec<EditorServer> = serde_json::from_slice(&bytes?).ok()?;
    let is_written = rest.is_empty() && with_safe_names(servers.clone()) == servers;
    is_written.then_some(servers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str) -> EditorServer {
        EditorServer {
            name: name.to_owned(),
            command: "/bin/files".to_owned(),
            args: vec!["--key".to_owned(), "hush in ärgs $HOME".to_owned()],
            env: BTreeMap::from([("TOKEN".to_owned(), "hush\n".to_owned())]),
        }
    }

    fn environment(value: &str) -> Environment {
        Environment::new([(VARIABLE.to_owned(), value.to_owned())])
    }

    /// Returns the names that servers with these names get.
    fn names(given: &[&str]) -> Vec<String> {
        let value = variable(given.iter().map(|name| server(name)).collect()).unwrap().unwrap();
        servers(&environment(&value)).into_iter().map(|server| server.name).collect()
    }

    #[test]
    fn names_are_unique_and_safe_for_every_vendor() {
        let long = "x".repeat(50);
        let table: [(&[&str], &[&str]); 6] = [
            (&["my_files-2"], &["my_files-2"]),
            (&["my files/ä.b", "a"], &["my-files---b", "a"]),
            (&["a", "A", "a"], &["a", "A-2", "a-3"]),
            (&["segue", "Segue"], &["segue-2", "Segue-3"]),
            (&[&long, &long], &[&long[..40], &(long[..38].to_owned() + "-2")]),
            (&["a-2", "a", "a"], &["a-2", "a", "a-3"]),
        ];
        for (given, expected) in table {
            assert_eq!(names(given), expected, "{given:?}");
        }
    }

    #[test]
    fn definitions_survive_the_variable_which_shows_no_secret_to_a_filter() {
        let value = variable(vec![server("files")]).unwrap().unwrap();
        assert!(value.bytes().all(|byte| byte.is_ascii_hexdigit()), "{value}");
        assert_eq!(servers(&environment(&value)), [server("files")]);
        assert_eq!(variable(Vec::new()).unwrap(), None);
        assert_eq!(servers(&Environment::default()), []);
    }

    #[test]
    fn value_that_segue_has_not_written_has_no_servers() {
        let hexadecimal =
            |text: &str| -> String { text.bytes().map(|byte| format!("{byte:02x}")).collect() };
        let entry = |name: &str| hexadecimal(&serde_json::to_string(&[server(name)]).unwrap());
        assert_eq!(servers(&environment(&entry("files"))).len(), 1);
        let wrong = ["", "5", "[]", "zz", &hexadecimal("{}"), &entry("segue"), &entry("a.b=c")];
        for value in wrong.into_iter().chain([&*(entry("files") + "2")]) {
            assert_eq!(servers(&environment(value)), [], "{value}");
        }
    }

    #[test]
    fn server_that_cannot_be_started_or_is_too_large_is_refused_without_its_secrets() {
        let changed = |change: &dyn Fn(&mut EditorServer)| {
            let mut changed = server("files");
            change(&mut changed);
            vec![changed]
        };
        let variable_named = |name: &'static str| {
            changed(&|it| drop(it.env.insert(name.to_owned(), "hush".to_owned())))
        };
        let table = [
            (changed(&|it| it.name.clear()), "has no name"),
            (changed(&|it| it.command.clear()), "needs a command"),
            (changed(&|it| it.command = "./hush".to_owned()), "needs a command"),
            (changed(&|it| it.command = "bin/hush".to_owned()), "needs a command"),
            (changed(&|it| it.args[1].push('\0')), "zero byte"),
            (variable_named("A=B"), "cannot get its environment"),
            (variable_named("SEGUE_LAUNCH"), "cannot get its environment"),
            (changed(&|it| it.args[1] = "hush".repeat(MAX_BYTES / 4)), "at most 49152 bytes"),
            (vec![server("files"); MAX_SERVERS + 1], "at most 32 MCP servers"),
        ];
        for (servers, part) in table {
            let error = variable(servers).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(text.contains(part) && !text.contains("hush"), "{text}");
            assert_eq!(error.kind, crate::Kind::Usage);
        }
        let named = changed(&|it| it.command = "npx".to_owned());
        assert!(variable(named).unwrap().is_some());
        assert!(!format!("{:?}", server("files")).contains("hush"));
    }
}
