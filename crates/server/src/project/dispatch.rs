//! The tables `[[dispatch]]` of the user's settings.

use std::path::{Path, PathBuf};

use segue_core::model::{
    AgentName, AllowedActors, DispatchConditions, DispatchRule, RepositoryUrl, SourceName,
    TriggerKind,
};
use segue_core::rules::forge_prompts;
use segue_core::{Error, Result};
use serde::Deserialize;

use super::settings;

/// The most bytes of a template in a file.
const MAX_TEMPLATE_BYTES: u64 = 1 << 20;

/// A rule, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DispatchTable {
    on: TriggerKind,
    source: String,
    folder: PathBuf,
    #[serde(default)]
    when: ConditionsTable,
    agent: String,
    prompt: Option<String>,
    verify: Option<String>,
    #[serde(default)]
    reply: bool,
    #[serde(default)]
    who: WrittenActors,
    repo: Option<RepositoryUrl>,
}

/// Conditions, as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConditionsTable {
    label: Option<String>,
    branch: Option<String>,
    author: Option<String>,
    repository: Option<String>,
    assignee: Option<String>,
}

/// A word, or a list of logins.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected \"write\", \"anyone\" or a list of logins")]
enum WrittenActors {
    Word(ActorsWord),
    Logins(Vec<String>),
}

/// Whose events start work, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ActorsWord {
    Write,
    Anyone,
}

impl Default for WrittenActors {
    fn default() -> Self {
        Self::Word(ActorsWord::Write)
    }
}

impl From<WrittenActors> for AllowedActors {
    fn from(written: WrittenActors) -> Self {
        match written {
            WrittenActors::Word(ActorsWord::Write) => Self::Write,
            WrittenActors::Word(ActorsWord::Anyone) => Self::Anyone,
            WrittenActors::Logins(logins) => Self::Listed(logins),
        }
    }
}

/// Returns the rules. Fails if the file cannot be read, or if a rule cannot be used. `home` replaces
/// `~` at the beginning of a folder.
pub(crate) fn dispatch_rules(config_file: &Path, home: &Path) -> Result<Vec<DispatchRule>> {
    let (sources, rules) = settings::dispatch(config_file)?;
    let config_folder = config_file.parent().unwrap_or(Path::new("/"));
    let rule = |(place, table): (usize, DispatchTable)| {
        let number = place + 1;
        if !sources.iter().any(|source| source.name == table.source) {
            let why = format!("no table `[[sources]]` has the name `{}`", table.source);
            return Err(wrong(number, why));
        }
        rule(number, table, (home, config_folder))
    };
    rules.into_iter().enumerate().map(rule).collect()
}

fn rule(
    number: usize,
    table: DispatchTable,
    (home, config_folder): (&Path, &Path),
) -> Result<DispatchRule> {
    let folder = match table.folder.strip_prefix("~") {
        Ok(below) => home.join(below),
        Err(_) => table.folder,
    };
    if !folder.is_absolute() {
        let why =
            format!("`folder` must be absolute, or begin with `~/`, got `{}`", folder.display());
        return Err(wrong(number, why));
    }
    let ConditionsTable { label, branch, author, repository, assignee } = table.when;
    let prompt = table.prompt.map(|prompt| template(number, prompt, config_folder)).transpose()?;
    Ok(DispatchRule {
        number,
        on: table.on,
        source: SourceName::parse(&table.source).map_err(|error| wrong(number, error.message))?,
        folder,
        when: DispatchConditions { label, branch, author, repository, assignee },
        agent: AgentName::parse(&table.agent).map_err(|error| wrong(number, error.message))?,
        prompt,
        verify: table.verify,
        reply: table.reply,
        who: table.who.into(),
        repo: table.repo,
    })
}

/// Returns the template of a rule. A value without white space that has a `.` or a `/` is the path of
/// a file beside `config.toml`.
fn template(number: usize, prompt: String, config_folder: &Path) -> Result<String> {
    let is_path = !prompt.contains(char::is_whitespace) && prompt.contains(['.', '/']);
    let text = if is_path { read_template(number, &config_folder.join(prompt))? } else { prompt };
    forge_prompts::check(&text).map_err(|error| wrong(number, error.in_one_line()))?;
    Ok(text)
}

fn read_template(number: usize, path: &Path) -> Result<String> {
    let cannot = |why: String| wrong(number, format!("`{}`: {why}", path.display()));
    let length = std::fs::metadata(path).map_err(|error| cannot(error.to_string()))?.len();
    if length > MAX_TEMPLATE_BYTES {
        return Err(cannot(format!("it has more than {MAX_TEMPLATE_BYTES} bytes")));
    }
    std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))
}

fn wrong(number: usize, why: impl std::fmt::Display) -> Error {
    Error::config(format!("rule {number} under `[[dispatch]]` in config.toml cannot be used"))
        .caused_by(why)
        .hint("docs/configuration.md describes the keys under `[[dispatch]]`")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SOURCE: &str = "[[sources]]\nname = \"hub\"\nforge = \"github\"\n";
    const RULE: &str = "[[dispatch]]\non = \"issue.assigned\"\nsource = \"hub\"\n\
                        folder = \"~/src/shop\"\nagent = \"coder\"\n";

    fn written(text: &str, files: &[(&str, &str)]) -> Result<Vec<DispatchRule>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let file = folder.path().join("config.toml");
        fs::write(&file, text).unwrap();
        dispatch_rules(&file, Path::new("/home/ann"))
    }

    #[test]
    fn rule_has_defaults() {
        let [rule] = &written(&format!("{SOURCE}{RULE}"), &[]).unwrap()[..] else { panic!() };
        assert_eq!(rule.folder, Path::new("/home/ann/src/shop"));
        assert_eq!(
            (rule.number, rule.on, &rule.who),
            (1, TriggerKind::IssueAssigned, &AllowedActors::Write)
        );
        assert_eq!((&rule.when, rule.reply), (&DispatchConditions::default(), false));
    }

    #[test]
    fn rule_takes_a_template_from_a_file_and_logins_from_a_list() {
        let lines = "prompt = \"issue.md\"\nwho = [\"ada\"]\nwhen = { label = \"bug\" }\n";
        let text = format!("{SOURCE}{RULE}{lines}");
        let files = [("issue.md", "Fix it: {{ quoted }}")];
        let [rule] = &written(&text, &files).unwrap()[..] else { panic!() };
        assert_eq!(rule.prompt.as_deref(), Some("Fix it: {{ quoted }}"));
        assert_eq!(rule.who, AllowedActors::Listed(vec!["ada".to_owned()]));
        assert_eq!(rule.when.label.as_deref(), Some("bug"));
    }

    #[test]
    fn wrong_rules_are_refused_with_the_reason() {
        let table = [
            ("prompt = \"{{ promt }}\"", "undefined"),
            ("prompt = \"missing.md\"", "No such file"),
            ("who = \"all\"", "list of logins"),
            ("when = { milestone = \"1\" }", "unknown field `milestone`"),
            ("repo = \"https://me:hush@host/a\"", "has credentials"),
        ];
        for (line, expected) in table {
            let error = written(&format!("{SOURCE}{RULE}{line}\n"), &[]).unwrap_err();
            assert!(format!("{error:?}").contains(expected), "{line}: {error:?}");
            assert!(!format!("{error:?}").contains("hush"), "{error:?}");
        }
        let error = written(RULE, &[]).unwrap_err();
        assert_eq!(error.causes, ["no table `[[sources]]` has the name `hub`"]);
        let relative = RULE.replace("~/src", "src");
        let error = written(&format!("{SOURCE}{relative}"), &[]).unwrap_err();
        assert!(error.causes[0].contains("absolute"), "{error:?}");
    }
}
