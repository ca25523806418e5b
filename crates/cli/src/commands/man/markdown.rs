//! The reference of all commands as a page of Markdown, made from the definitions of the command
//! line. `make docs` writes it into `docs/commands.md`.

use clap::{Arg, Command};

use crate::render::wrap::wrap;

/// The width at which the documentation wraps.
const COLUMNS: usize = 100;

const INTRODUCTION: &str = "\
This page lists every command with its arguments and flags. `segue man --markdown` writes it from \
the definitions of the command line. [The command line](command-line.md) explains how sessions are \
named, and which environment variables Segue reads.";

const FLAGS_OF_ALL: &str = "\
Every command has `--help`, which prints its part of this page. Every command that prints data has \
`--json`: see [JSON](json.md). The beginning of a command's name is enough if it is unambiguous.";

/// Returns the page of a program: a table of its commands, and a section for each command.
pub(super) fn page(mut program: Command) -> String {
    // Passes the program's name and its global flags on to the commands.
    program.build();
    let commands: Vec<Command> = visible(&program).flat_map(with_subcommands).collect();
    let mut page = "# Commands\n\n".to_owned();
    for paragraph in [INTRODUCTION, FLAGS_OF_ALL] {
        page += &paragraph_of(paragraph);
    }
    page += "| command | what it does |\n|---|---|\n";
    page += &row(&code(program.get_name()), "Show the sessions of this folder, and next steps");
    for command in &commands {
        let name = name(command);
        let link = format!("[`{name}`](#{})", name.replace(' ', "-"));
        page += &row(&link, &about(command));
    }
    page += "\n";
    page += &after(&program);
    for mut command in commands {
        page += &section(&mut command);
    }
    page.trim_end().to_owned() + "\n"
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|it| !it.is_hide_set())
}

fn with_subcommands(command: &Command) -> Vec<Command> {
    let below = visible(command).flat_map(with_subcommands);
    std::iter::once(command.clone()).chain(below).collect()
}

fn section(command: &mut Command) -> String {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let (name, about) = (name(command), about(command));
    let mut section = format!("## {name}\n\n{about}.\n\n```\n{usage}\n```\n\n");
    let arguments: Vec<&Arg> = command.get_arguments().filter(|it| is_own(it)).collect();
    if !arguments.is_empty() {
        section += "| argument | meaning |\n|---|---|\n";
        for argument in arguments {
            section += &row(&spelling(argument), &meaning(argument));
        }
        section += "\n";
    }
    section + &after(command)
}

/// Returns whether the command's own table has this argument. `--help` and `--json` are described
/// once for all commands.
fn is_own(argument: &Arg) -> bool {
    let is_general = argument.is_global_set() || argument.get_id() == "help";
    !argument.is_hide_set() && !is_general
}

/// Returns how the argument is written: `[NAME]…`, or `-n`, `--last <N>`.
fn spelling(argument: &Arg) -> String {
    let aliases = argument.get_visible_aliases().unwrap_or_default();
    let short = argument.get_short().map(|it| format!("-{it}"));
    let long = argument.get_long().into_iter().chain(aliases).map(|it| format!("--{it}"));
    let flags: Vec<String> = short.into_iter().chain(long).collect();
    let value = value(argument);
    if flags.is_empty() {
        return code(&value);
    }
    let written = |flag: &String| code(format!("{flag} {value}").trim_end());
    flags.iter().map(written).collect::<Vec<_>>().join(", ")
}

fn value(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    if !argument.get_action().takes_values() || names.is_empty() {
        return String::new();
    }
    let names = names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let is_needed = argument.is_required_set() || !argument.is_positional();
    let value = if is_needed { format!("<{names}>") } else { format!("[{names}]") };
    let is_list = argument.get_num_args().is_some_and(|it| it.max_values() > 1);
    if is_list { value + "…" } else { value }
}

/// Begins the default value in a help text, for defaults that clap does not know.
const DEFAULT: &str = " [default: ";

/// Returns the help of an argument as a sentence, with its possible values, its default value, and
/// whether it can be repeated.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let mut sentences = match help.trim_end_matches(']').split_once(DEFAULT) {
        Some((help, default)) => vec![format!("{help}."), format!("Default: {default}.")],
        None => vec![format!("{help}.")],
    };
    let values = argument.get_possible_values();
    let values: Vec<String> = values.iter().map(|it| code(it.get_name())).collect();
    if !values.is_empty() && argument.get_action().takes_values() {
        sentences.push(format!("One of {}.", values.join(", ")));
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|it| code(&it.to_string_lossy())).collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        sentences.push(format!("Default: {}.", defaults.join(", ")));
    }
    if !argument.is_positional() && matches!(argument.get_action(), clap::ArgAction::Append) {
        sentences.push("Can be repeated.".to_owned());
    }
    sentences.join(" ")
}

/// Returns the text behind a command's options. A paragraph that has indented lines is printed as a
/// block of code below its first line.
fn after(command: &Command) -> String {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    text.split("\n\n").filter(|it| !it.trim().is_empty()).map(block_or_paragraph).collect()
}

fn block_or_paragraph(text: &str) -> String {
    match text.split_once('\n') {
        Some((title, lines)) if lines.starts_with("  ") => {
            let lines: Vec<&str> = lines.lines().map(|it| it.get(2..).unwrap_or(it)).collect();
            format!("{title}\n\n```\n{}\n```\n\n", lines.join("\n"))
        }
        _ => paragraph_of(&text.replace('\n', " ")),
    }
}

fn paragraph_of(text: &str) -> String {
    wrap(&with_flags_as_code(text), Some(COLUMNS)).join("\n") + "\n\n"
}

fn row(first: &str, second: &str) -> String {
    format!("| {} | {} |\n", escaped(first), escaped(&with_flags_as_code(second)))
}

/// Returns a text in which every flag is code. Renderers could turn the dashes of a flag into other
/// characters.
fn with_flags_as_code(text: &str) -> String {
    let mut is_code = false;
    let words = text.split(' ').map(|word| {
        let was_code = is_code;
        is_code ^= word.matches('`').count() % 2 == 1;
        let end = word.find(|it: char| !it.is_ascii_lowercase() && it != '-');
        let (flag, rest) = word.split_at(end.unwrap_or(word.len()));
        if was_code || !flag.starts_with('-') { word.to_owned() } else { code(flag) + rest }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A `|` would end the cell of a table, also in code.
fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|")
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn name(command: &Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).to_owned()
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::SegueArguments;

    const PAGE: &str = include_str!("../../../../../docs/commands.md");

    #[test]
    fn page_in_the_documentation_is_the_generated_one() {
        let page = page(SegueArguments::command());
        let differs = PAGE.lines().zip(page.lines()).find(|(there, wanted)| there != wanted);
        assert!(PAGE == page, "run `make docs` to write docs/commands.md; differs: {differs:?}");
    }

    #[test]
    fn arguments_are_spelled_as_they_are_typed() {
        let mut program = SegueArguments::command();
        program.build();
        let table = [
            ("run", "prompt", "`[PROMPT|-]`"),
            ("run", "detach", "`-d`, `--detach`"),
            ("up", "agents", "`[AGENT]…`"),
            ("up", "fleet", "`--fleet <NAME>`, `--session <NAME>`"),
            ("wait", "names", "`<SESSION|FLEET>…`"),
            ("show", "last", "`-n <N>`, `--last <N>`"),
        ];
        for (command, id, expected) in table {
            let command = program.find_subcommand(command).unwrap();
            let argument = command.get_arguments().find(|it| it.get_id() == id).unwrap();
            assert_eq!(spelling(argument), expected);
        }
    }

    #[test]
    fn flags_in_a_text_become_code_once() {
        let table = [
            (
                "with -d, or (as `segue up --stopped` does) --all.",
                "with `-d`, or (as `segue up --stopped` does) `--all`.",
            ),
            ("a well-known text", "a well-known text"),
        ];
        for (text, expected) in table {
            assert_eq!(with_flags_as_code(text), expected);
        }
    }

    #[test]
    fn help_is_printed_as_wrapped_paragraphs_and_blocks_of_code() {
        let help = format!("{}\n\nExamples:\n  segue ls\n  segue log", "word ".repeat(21).trim());
        let expected = format!(
            "{}\nword\n\nExamples:\n\n```\nsegue ls\nsegue log\n```\n\n",
            "word ".repeat(20).trim()
        );
        assert_eq!(after(&Command::new("x").after_help(help)), expected);
    }
}
