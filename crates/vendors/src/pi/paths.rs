//! The paths of Pi's files.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use segue_core::Result;
use segue_core::model::Environment;
use segue_core::ports::{Files, Place};

pub(super) use crate::shared::ids::{created_at as began_at, is_uuid as is_id};

use crate::shared::hash::fnv1a;
use crate::shared::{config_dir, files, ids};

/// The environment variable that names Pi's config dir.
const CONFIG_DIR_VARIABLE: &str = "PI_CODING_AGENT_DIR";

/// The environment variable that Pi sets for its tools.
const NESTED_VARIABLE: &str = "PI_CODING_AGENT";

/// The maximum length of a folder name. Pi exits if it needs a longer name.
const NAME_LIMIT_BYTES: usize = 255;

/// How many bytes of a path are part of the folder name if the whole path is too long.
const PATH_LIMIT_BYTES: usize = 180;

/// Returns Pi's config dir for this environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let set = |name| config_dir::set(environment, name);
    let home_dir = set("HOME").map(Path::new);
    let found = match set(CONFIG_DIR_VARIABLE) {
        Some(value) => expand_home(value, home_dir),
        None => home_dir.map(|home_dir| home_dir.join(".pi/agent")),
    };
    found
        .filter(|folder| folder.is_absolute())
        .ok_or_else(|| config_dir::unknown("Pi", CONFIG_DIR_VARIABLE))
}

/// Expands `~` as Pi does.
fn expand_home(value: &str, home_dir: Option<&Path>) -> Option<PathBuf> {
    match value.strip_prefix('~') {
        Some("") => home_dir.map(Path::to_owned),
        Some(rest) if rest.starts_with('/') => Some(home_dir?.join(&rest[1..])),
        _ => Some(PathBuf::from(value)),
    }
}

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| name != NESTED_VARIABLE);
    environment.set(CONFIG_DIR_VARIABLE, place.config_dir.to_string_lossy());
}

/// Returns the folder that contains a folder of transcripts for each working folder.
pub(super) fn sessions_folder(config_dir: &Path) -> PathBuf {
    config_dir.join("sessions")
}

/// Returns the folder with the transcripts of one working folder.
pub(super) fn transcripts_folder(place: &Place) -> PathBuf {
    sessions_folder(&place.config_dir).join(folder_name(&place.cwd.to_string_lossy()))
}

/// Returns the name of the folder with the transcripts of a working folder, as Pi does. Two working
/// folders can have the same name (`/a/b` and `/a-b`).
fn folder_name(path: &str) -> String {
    let path = path.strip_prefix('/').unwrap_or(path);
    let dashed: String =
        path.chars().map(|c| if matches!(c, '/' | '\\' | ':') { '-' } else { c }).collect();
    let name = format!("--{dashed}--");
    if name.len() <= NAME_LIMIT_BYTES {
        return name;
    }
    // Pi has no name for such a folder. Segue passes the folder of transcripts to Pi, so the name
    // need only be stable.
    let end = (0..=PATH_LIMIT_BYTES).rev().find(|at| dashed.is_char_boundary(*at)).unwrap_or(0);
    format!("--{}-{:016x}--", &dashed[..end], fnv1a(path.as_bytes()))
}

/// Returns the path of a conversation's transcript. The file name consists of a timestamp and the
/// id. The timestamp of a prepared transcript comes from the id. Otherwise, it is the time at which
/// Pi created the file. If there is no transcript, returns the path of a prepared one.
pub(super) fn transcript(files: &dyn Files, place: &Place, id: &str) -> PathBuf {
    let folder = transcripts_folder(place);
    let prepared = folder.join(prepared_name(id));
    if files::exists(files, &prepared) {
        return prepared;
    }
    let all = files.list(&folder).unwrap_or_default().into_iter();
    let mut matching = all.filter(|path| is_id(id) && id_of(path) == Some(id));
    matching.next().unwrap_or(prepared)
}

fn prepared_name(id: &str) -> String {
    let began = began_at(id).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC);
    format!("{}_{}.jsonl", began.strftime("%Y-%m-%dT%H-%M-%S-%3fZ"), ids::file_name(id))
}

/// Returns the conversation id from the file name of a transcript. `None` if the file is no
/// transcript.
pub(super) fn id_of(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let (_, id) = name.strip_suffix(".jsonl")?.rsplit_once('_')?;
    is_id(id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Home, environment};

    const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

    #[test]
    fn config_dir_variable_overrides_the_default_folder() {
        let table = [
            ("/srv/pi", "/srv/pi"),
            ("~/pi", "/home/u/pi"),
            ("~", "/home/u"),
            ("", "/home/u/.pi/agent"),
        ];
        for (value, wanted) in table {
            let found =
                config_dir(&environment(&[(CONFIG_DIR_VARIABLE, value), ("HOME", "/home/u")]));
            assert_eq!(found.unwrap(), Path::new(wanted), "{value}");
        }
    }

    #[test]
    fn missing_or_relative_config_dir_is_a_configuration_error() {
        for pairs in
            [vec![], vec![(CONFIG_DIR_VARIABLE, "here")], vec![(CONFIG_DIR_VARIABLE, "~/x")]]
        {
            let error = config_dir(&environment(&pairs)).unwrap_err();
            assert_eq!(error.kind, segue_core::Kind::Config, "{pairs:?}");
        }
    }

    #[test]
    fn environment_names_the_recorded_config_dir_and_omits_variables_of_an_outer_pi() {
        let place = Place { config_dir: "/recorded".into(), cwd: "/code".into() };
        let mut found =
            environment(&[(CONFIG_DIR_VARIABLE, "/elsewhere"), (NESTED_VARIABLE, "true")]);
        prepare_environment(&place, &mut found);
        assert_eq!(found.names(), [CONFIG_DIR_VARIABLE]);
        assert_eq!(found.get(CONFIG_DIR_VARIABLE), Some("/recorded"));
    }

    #[test]
    fn folder_name_is_the_same_as_in_pi() {
        let table = [
            ("/home/dev/proj/pa", "--home-dev-proj-pa--"),
            ("/a b/ü_c.d", "--a b-ü_c.d--"),
            ("/a:b\\c", "--a-b-c--"),
        ];
        for (path, name) in table {
            assert_eq!(folder_name(path), name, "{path}");
        }
    }

    #[test]
    fn folder_name_shortens_long_paths_to_unique_names() {
        let longest = format!("/{}", "x".repeat(NAME_LIMIT_BYTES - 4));
        assert_eq!(folder_name(&longest).len(), NAME_LIMIT_BYTES);
        let [first, second] =
            ["a", "b"].map(|end| folder_name(&format!("/{}{end}", "ü".repeat(200))));
        assert!(first.len() <= NAME_LIMIT_BYTES && second.len() <= NAME_LIMIT_BYTES);
        assert_ne!(first, second);
    }

    #[test]
    fn transcript_is_found_by_its_id_with_any_timestamp() {
        let home = Home::new();
        let matching = transcript(&home.disk, &home.place, ID);
        let name = format!("sessions/--code-a--/2026-11-16T00-14-30-801Z_{ID}.jsonl");
        assert_eq!(matching, home.folder.path().join(name));
        let later = format!("sessions/--code-a--/2026-11-16T00-14-30-803Z_{ID}.jsonl");
        let later = home.write(&later, "");
        assert_eq!(transcript(&home.disk, &home.place, ID), later);
        assert_eq!(id_of(&later), Some(ID));
        let hostile = transcript(&home.disk, &home.place, "../../x");
        assert_eq!(hostile.parent(), matching.parent());
    }
}
