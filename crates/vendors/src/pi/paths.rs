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

/// The environment variable that Pi sets for the programs that it starts.
const NESTED: &str = "PI_CODING_AGENT";

/// Maximum length of a folder's name in bytes. Pi itself exits if it would need a longer name.
const LONGEST_NAME: usize = 255;

/// How many bytes of a folder's path are kept if the whole path is too long.
const KEPT: usize = 180;

/// Returns Pi's config dir, given an agent's environment.
pub(super) fn config_dir(environment: &Environment) -> Result<PathBuf> {
    let set = |name| config_dir::set(environment, name);
    let user = set("HOME").map(Path::new);
    let found = match set(CONFIG_DIR_VARIABLE) {
        Some(named) => below_home(named, user),
        None => user.map(|user| user.join(".pi/agent")),
    };
    found
        .filter(|folder| folder.is_absolute())
        .ok_or_else(|| config_dir::unknown("Pi", CONFIG_DIR_VARIABLE))
}

/// Expands `~` as Pi does.
fn below_home(named: &str, user: Option<&Path>) -> Option<PathBuf> {
    match named.strip_prefix('~') {
        Some("") => user.map(Path::to_owned),
        Some(rest) if rest.starts_with('/') => Some(user?.join(&rest[1..])),
        _ => Some(PathBuf::from(named)),
    }
}

pub(super) fn prepare_environment(place: &Place, environment: &mut Environment) {
    environment.retain(|name| name != NESTED);
    environment.set(CONFIG_DIR_VARIABLE, place.config_dir.to_string_lossy());
}

/// Returns the folder that contains one folder of transcripts per working folder.
pub(super) fn sessions(config_dir: &Path) -> PathBuf {
    config_dir.join("sessions")
}

/// Returns the folder with the transcripts of one working folder.
pub(super) fn transcripts(place: &Place) -> PathBuf {
    sessions(&place.config_dir).join(encode(&place.cwd.to_string_lossy()))
}

/// Encodes a folder's real path as Pi does. Different folders can get the same name (`/a/b` and
/// `/a-b`).
fn encode(path: &str) -> String {
    let path = path.strip_prefix('/').unwrap_or(path);
    let dashed: String =
        path.chars().map(|c| if matches!(c, '/' | '\\' | ':') { '-' } else { c }).collect();
    let name = format!("--{dashed}--");
    if name.len() <= LONGEST_NAME {
        return name;
    }
    // Pi has no name for such a folder. Any stable name will do, because Segue passes the folder of
    // transcripts to Pi.
    let end = (0..=KEPT).rev().find(|at| dashed.is_char_boundary(*at)).unwrap_or(0);
    format!("--{}-{:016x}--", &dashed[..end], fnv1a(path.as_bytes()))
}

/// Returns the path of a conversation's transcript. The name consists of a timestamp and the id. If
/// Segue prepared the transcript, the timestamp is the one in the id; otherwise it is the time at
/// which Pi began the transcript. If there is no transcript, returns the path that Segue would use.
pub(super) fn transcript(files: &dyn Files, place: &Place, id: &str) -> PathBuf {
    let folder = transcripts(place);
    let prepared = folder.join(prepared_name(id));
    if files::exists(files, &prepared) {
        return prepared;
    }
    let all = files.list(&folder).unwrap_or_default().into_iter();
    let mut own = all.filter(|path| is_id(id) && id_of(path) == Some(id));
    own.next().unwrap_or(prepared)
}

fn prepared_name(id: &str) -> String {
    let began = began_at(id).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC);
    format!("{}_{}.jsonl", began.strftime("%Y-%m-%dT%H-%M-%S-%3fZ"), ids::file_name(id))
}

/// Returns the conversation's id from the name of its transcript. `None` if this is no transcript.
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
    fn config_dir_is_the_one_in_the_variable_or_else_the_default() {
        let table = [
            ("/srv/pi", "/srv/pi"),
            ("~/pi", "/home/u/pi"),
            ("~", "/home/u"),
            ("", "/home/u/.pi/agent"),
        ];
        for (named, wanted) in table {
            let found =
                config_dir(&environment(&[(CONFIG_DIR_VARIABLE, named), ("HOME", "/home/u")]));
            assert_eq!(found.unwrap(), Path::new(wanted), "{named}");
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
    fn environment_names_the_recorded_config_dir_and_drops_variables_of_an_outer_pi() {
        let place = Place { config_dir: "/recorded".into(), cwd: "/code".into() };
        let mut found = environment(&[(CONFIG_DIR_VARIABLE, "/elsewhere"), (NESTED, "true")]);
        prepare_environment(&place, &mut found);
        assert_eq!(found.names(), [CONFIG_DIR_VARIABLE]);
        assert_eq!(found.get(CONFIG_DIR_VARIABLE), Some("/recorded"));
    }

    #[test]
    fn encode_names_folders_as_pi_does() {
        let table = [
            ("/home/dev/proj/pa", "--home-dev-proj-pa--"),
            ("/a b/ü_c.d", "--a b-ü_c.d--"),
            ("/a:b\\c", "--a-b-c--"),
        ];
        for (path, name) in table {
            assert_eq!(encode(path), name, "{path}");
        }
    }

    #[test]
    fn encode_shortens_a_long_path_to_a_unique_name() {
        let longest = format!("/{}", "x".repeat(LONGEST_NAME - 4));
        assert_eq!(encode(&longest).len(), LONGEST_NAME);
        let [one, two] = ["a", "b"].map(|end| encode(&format!("/{}{end}", "ü".repeat(200))));
        assert!(one.len() <= LONGEST_NAME && two.len() <= LONGEST_NAME);
        assert_ne!(one, two);
    }

    #[test]
    fn transcript_is_found_by_its_id_whatever_its_time_is() {
        let home = Home::new();
        let own = transcript(&home.disk, &home.place, ID);
        let name = format!("sessions/--code-a--/2026-11-16T00-14-30-801Z_{ID}.jsonl");
        assert_eq!(own, home.folder.path().join(name));
        let later = format!("sessions/--code-a--/2026-11-16T00-14-30-803Z_{ID}.jsonl");
        let later = home.write(&later, "");
        assert_eq!(transcript(&home.disk, &home.place, ID), later);
        assert_eq!(id_of(&later), Some(ID));
        let hostile = transcript(&home.disk, &home.place, "../../x");
        assert_eq!(hostile.parent(), own.parent());
    }
}
