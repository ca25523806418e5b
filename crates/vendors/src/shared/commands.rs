//! Commands that vendors' programs read from files of the user or of the project.

use std::path::{Path, PathBuf};

use segue_core::model::{CommandArguments, CommandEffect, ProgramCommand};
use segue_core::ports::Files;

/// At most this many bytes of a file are read for its description.
const HEADER_BYTES: usize = 4096;

/// At most this many files of a folder are read.
const MAX_FILES: usize = 200;

/// The longest description, in characters.
const MAX_DESCRIPTION_CHARACTERS: usize = 200;

const SKILL_FILE: &str = "SKILL.md";

/// The description and the arguments at the beginning of a file.
#[derive(Debug, Default, PartialEq, Eq)]
struct CommandHeader {
    description: String,
    arguments: Option<String>,
}

/// Returns a command of the program itself, which has no arguments.
pub(crate) fn built_in(name: &str, description: &str, effect: CommandEffect) -> ProgramCommand {
    let (name, description) = (name.to_owned(), description.to_owned());
    ProgramCommand { name, description, arguments: CommandArguments::Refused, effect }
}

/// Lists the commands that are Markdown files in a folder: `NAME.md`.
pub(crate) fn markdown(files: &dyn Files, folder: &Path) -> Vec<ProgramCommand> {
    let header = |path: &Path| markdown_header(&head(files, path));
    with_extension(files, folder, "md").filter_map(|path| command(&path, header(&path))).collect()
}

/// Lists the commands that are TOML files in a folder: `NAME.toml`.
pub(crate) fn toml(files: &dyn Files, folder: &Path) -> Vec<ProgramCommand> {
    let header = |path: &Path| toml_header(&head(files, path));
    with_extension(files, folder, "toml").filter_map(|path| command(&path, header(&path))).collect()
}

/// Lists the skills in a folder: `NAME/SKILL.md`.
pub(crate) fn skills(files: &dyn Files, folder: &Path) -> Vec<ProgramCommand> {
    let skill = |folder: PathBuf| {
        let file = folder.join(SKILL_FILE);
        files.facts(&file).ok().flatten()?;
        command(&folder, markdown_header(&head(files, &file)))
    };
    listed(files, folder).filter_map(skill).take(MAX_FILES).collect()
}

fn with_extension<'a>(
    files: &'a dyn Files,
    folder: &Path,
    extension: &'a str,
) -> impl Iterator<Item = PathBuf> + 'a {
    let has_extension = move |path: &PathBuf| path.extension().is_some_and(|it| it == extension);
    listed(files, folder).filter(has_extension).take(MAX_FILES)
}

/// Lists the paths in a folder, in a stable order. A folder that cannot be read has none.
fn listed(files: &dyn Files, folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut paths = files.list(folder).unwrap_or_default();
    paths.sort();
    paths.into_iter()
}

fn head(files: &dyn Files, path: &Path) -> String {
    let bytes = files.head(path, HEADER_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn command(path: &Path, header: CommandHeader) -> Option<ProgramCommand> {
    let name = path.file_stem()?.to_str()?.to_owned();
    let CommandHeader { description, arguments } = header;
    let arguments = arguments.map_or(CommandArguments::Accepted, CommandArguments::Described);
    Some(ProgramCommand { name, description, arguments, effect: CommandEffect::Prompt })
}

/// Reads the lines `key: value` between the first two lines `---`.
fn markdown_header(text: &str) -> CommandHeader {
    let mut header = CommandHeader::default();
    let mut lines = text.lines().map(str::trim_end);
    if lines.next() != Some("---") {
        return header;
    }
    for line in lines.take_while(|line| *line != "---") {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = one_line(value.trim().trim_matches(['"', '\'']));
        match key {
            "description" => header.description = value,
            "argument-hint" if !value.is_empty() => header.arguments = Some(value),
            _ => {}
        }
    }
    header
}

/// Reads the key `description`.
fn toml_header(text: &str) -> CommandHeader {
    let table: toml::Table = text.parse().unwrap_or_default();
    let description = table.get("description").and_then(toml::Value::as_str).unwrap_or_default();
    CommandHeader { description: one_line(description), arguments: None }
}

/// Returns a text without control characters, shortened.
fn one_line(text: &str) -> String {
    let visible = text.chars().map(|it| if it.is_control() { ' ' } else { it });
    visible.take(MAX_DESCRIPTION_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CountingFiles, Home};

    #[test]
    fn header_has_the_description_and_the_arguments_on_one_line_each() {
        let read = |text: &str| {
            let CommandHeader { description, arguments } = markdown_header(text);
            (description, arguments)
        };
        let table = [
            (
                "---\ndescription: \"Greets\"\nargument-hint: [who]\n---\nx",
                ("Greets", Some("[who]")),
            ),
            ("---\r\ndescription: a: b\r\n---\r\n", ("a: b", None)),
            ("---\ndescription: a\u{1b}[2J\n", ("a [2J", None)),
            ("description: no header\n", ("", None)),
            ("", ("", None)),
        ];
        for (text, (description, arguments)) in table {
            assert_eq!(
                read(text),
                (description.to_owned(), arguments.map(str::to_owned)),
                "{text:?}"
            );
        }
        let long = format!("---\ndescription: {}\n---\n", "x".repeat(900));
        assert_eq!(read(&long).0.len(), MAX_DESCRIPTION_CHARACTERS);
        assert_eq!(toml_header("description = \"Greets\"\nprompt = \"x\"").description, "Greets");
        assert_eq!(toml_header("description = 1 2").description, "");
    }

    #[test]
    fn files_and_skills_become_commands_and_other_files_do_not() {
        let home = Home::new();
        home.write("commands/greet.md", "---\ndescription: Greets\n---\n");
        home.write("commands/notes.txt", "no command");
        home.write("commands/fix.toml", "description = \"Fixes\"");
        home.write("skills/review/SKILL.md", "---\ndescription: Reviews\n---\n");
        home.write("skills/empty/README.md", "");
        let (files, folder) = (CountingFiles::default(), home.folder.path());
        let found = |commands: Vec<ProgramCommand>| {
            commands.into_iter().map(|it| (it.name, it.description)).collect::<Vec<_>>()
        };
        let one = |name: &str, text: &str| vec![(name.to_owned(), text.to_owned())];
        assert_eq!(found(markdown(&files, &folder.join("commands"))), one("greet", "Greets"));
        assert_eq!(found(toml(&files, &folder.join("commands"))), one("fix", "Fixes"));
        assert_eq!(found(skills(&files, &folder.join("skills"))), one("review", "Reviews"));
        assert_eq!(markdown(&files, &folder.join("missing")), []);
    }
}
