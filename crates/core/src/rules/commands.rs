//! Commands of a vendor's program in messages: `/name arguments`.

use crate::error::{Error, Result};
use crate::model::{CommandArguments, ProgramCommand};

/// The longest command with its arguments, in characters. A program shows a longer paste as a
/// placeholder, and does not run it.
const MAX_COMMAND_CHARACTERS: usize = 800;

/// The longest name of a command in bytes.
const MAX_NAME_BYTES: usize = 100;

/// An error names at most this many commands.
const MAX_LISTED_COMMANDS: usize = 20;

/// At most this many commands of files are listed.
const MAX_FILE_COMMANDS: usize = 200;

/// Commands that programs have themselves, and that end the program, begin another conversation, or
/// wait for keys of the user. A file with such a name defines no command for a message.
const RESERVED_NAMES: [&str; 40] = [
    "add-dir",
    "agents",
    "approvals",
    "auth",
    "bug",
    "bye",
    "chat",
    "clear",
    "config",
    "connect",
    "context",
    "directory",
    "editor",
    "exit",
    "export",
    "feedback",
    "fork",
    "help",
    "hooks",
    "ide",
    "import",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "models",
    "new",
    "permissions",
    "plugin",
    "quit",
    "rename",
    "reset",
    "restore",
    "resume",
    "rewind",
    "sessions",
    "settings",
    "tree",
    "undo",
];

/// Returns the commands of a program and those of files, which have names of their own.
pub fn merge(
    built_in: Vec<ProgramCommand>,
    mut of_files: Vec<ProgramCommand>,
) -> Vec<ProgramCommand> {
    of_files.retain(|command| {
        let name = command.name.as_str();
        is_name(name)
            && !RESERVED_NAMES.contains(&name)
            && built_in.iter().all(|known| known.name != name)
    });
    of_files.sort_by(|a, b| a.name.cmp(&b.name));
    of_files.dedup_by(|a, b| a.name == b.name);
    of_files.truncate(MAX_FILE_COMMANDS);
    built_in.into_iter().chain(of_files).collect()
}

/// Returns the name of the command at the beginning of a text. `None` if the text cannot be a command.
pub fn name_of(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix('/')?.split(char::is_whitespace).next()?;
    is_name(name).then_some(name)
}

/// Returns whether a text can be the name of a command.
pub fn is_name(name: &str) -> bool {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | ':');
    name.len() <= MAX_NAME_BYTES
        && name.starts_with(|it: char| it.is_ascii_alphanumeric())
        && name.chars().all(is_allowed)
}

/// Finds the command that a text runs. Fails if the text has another form, or if no known command has
/// its name.
pub fn find<'a>(text: &str, known: &'a [ProgramCommand]) -> Result<&'a ProgramCommand> {
    let shown = || {
        let shown: String = text.trim().chars().take(MAX_NAME_BYTES).collect();
        shown.escape_debug().to_string()
    };
    let name = name_of(text).ok_or_else(|| {
        Error::usage(format!("`{}` is not a command", shown()))
            .hint("a command is a slash, its name and its arguments, such as `/init`")
    })?;
    let text = text.trim();
    if text.chars().count() > MAX_COMMAND_CHARACTERS || text.contains(char::is_control) {
        return Err(Error::usage(format!("the command `/{name}` cannot be typed")).hint(format!(
            "a command is one line of at most {MAX_COMMAND_CHARACTERS} characters, without tabs"
        )));
    }
    let found = known.iter().find(|it| it.name == name).ok_or_else(|| unknown(name, known))?;
    let has_arguments = text.split_whitespace().nth(1).is_some();
    if has_arguments && found.arguments == CommandArguments::Refused {
        let error = Error::usage(format!("the command `/{name}` takes no arguments"));
        return Err(error.hint(format!("send `/{name}` alone, or the text as a message")));
    }
    Ok(found)
}

fn unknown(name: &str, known: &[ProgramCommand]) -> Error {
    let error = Error::usage(format!("a message cannot run the command `/{name}`"));
    if known.is_empty() {
        return error.hint("a message can run no command of this agent; `segue attach` can");
    }
    let names = known.iter().take(MAX_LISTED_COMMANDS).map(|it| format!("/{}", it.name));
    let mut names: Vec<String> = names.collect();
    if known.len() > MAX_LISTED_COMMANDS {
        names.push(format!("{} more", known.len() - MAX_LISTED_COMMANDS));
    }
    error.hint(format!("it can run {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CommandEffect;

    fn known(names: &[&str]) -> Vec<ProgramCommand> {
        let command = |name: &&str| ProgramCommand {
            name: (*name).to_owned(),
            description: String::new(),
            arguments: CommandArguments::Accepted,
            effect: CommandEffect::Prompt,
        };
        names.iter().map(command).collect()
    }

    #[test]
    fn name_is_the_first_word_after_a_slash() {
        let table = [
            ("/init", Some("init")),
            ("  /greet you all\n", Some("greet")),
            ("/skill:greet x", Some("skill:greet")),
            ("/git.fix-2_b", Some("git.fix-2_b")),
            ("/", None),
            ("/ init", None),
            ("init", None),
            ("//init", None),
            ("/tmp/file", None),
            ("/-x", None),
            ("/größe", None),
            ("see /init", None),
        ];
        for (text, name) in table {
            assert_eq!(name_of(text), name, "{text:?}");
        }
        assert_eq!(name_of(&format!("/{}", "x".repeat(101))), None);
    }

    #[test]
    fn files_define_no_command_of_the_program_and_none_that_ends_it() {
        let names = |commands: Vec<ProgramCommand>| {
            commands.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        let files = known(&["greet", "init", "exit", "a b", "build", "greet"]);
        assert_eq!(names(merge(known(&["init"]), files)), ["init", "build", "greet"]);
        let many: Vec<String> = (0..300).map(|number| format!("c{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let merged = names(merge(known(&["init"]), known(&many)));
        assert_eq!((merged.len(), merged[0].as_str()), (201, "init"));
    }

    #[test]
    fn only_a_known_command_on_one_short_line_is_found() {
        let known = known(&["init", "greet"]);
        assert_eq!(find(" /greet you ", &known).unwrap().name, "greet");
        let long = format!("/greet {}", "x".repeat(800));
        for (text, part) in [
            ("greet", "`greet` is not a command"),
            ("/quit", "`/quit`"),
            ("/greet a\nb", "cannot be typed"),
            ("/greet \u{1b}[201~", "cannot be typed"),
            (&long, "cannot be typed"),
        ] {
            let error = find(text, &known).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let hint = find("/quit", &known).unwrap_err().hints.concat();
        assert_eq!(hint, "it can run /init, /greet");
        let mut known = known;
        known[0].arguments = CommandArguments::Refused;
        assert!(find(" /init ", &known).is_ok());
        assert!(find("/init here", &known).unwrap_err().to_string().contains("no arguments"));
        assert!(find("/quit", &[]).unwrap_err().hints.concat().contains("segue attach"));
    }
}
