//! Finds the version of an installed program in the files and folders around it, without running
//! it.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Maximum number of folders above a program that are searched, and of names in its path.
const MAX_LEVELS: usize = 5;

/// Returns the version of an installed program. `None` if neither a `package.json` nor the path
/// contains it.
pub(crate) fn of(program: &Path) -> Option<String> {
    let canonical = fs::canonicalize(program).ok()?;
    let folders = canonical.ancestors().skip(1).take(MAX_LEVELS);
    let from_package =
        folders.filter(|folder| is_in_package(&canonical, folder)).find_map(of_package);
    from_package.or_else(|| of_path(&canonical))
}

/// Returns whether a folder belongs to the program's own package, and not to a package that has the
/// program as a dependency.
fn is_in_package(program: &Path, folder: &Path) -> bool {
    let below = program.strip_prefix(folder).unwrap_or(program);
    !below.components().any(|part| part.as_os_str() == "node_modules")
}

fn of_package(folder: &Path) -> Option<String> {
    let text = fs::read(folder.join("package.json")).ok()?;
    let package: Value = serde_json::from_slice(&text).ok()?;
    package["version"].as_str().filter(|it| is_version(it)).map(str::to_owned)
}

/// Finds the version in the path. Some installers name a folder or a file after the version.
fn of_path(program: &Path) -> Option<String> {
    let names = program.iter().rev().take(MAX_LEVELS).filter_map(|name| name.to_str());
    names.map(|name| name.trim_start_matches('v')).find(|it| is_version(it)).map(str::to_owned)
}

/// Returns whether the text begins with two numbers that a dot separates.
fn is_version(text: &str) -> bool {
    let mut parts = text.splitn(3, '.');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_number(parts.next()) && is_number(parts.next())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    fn write(temp: &TempDir, path: &str, text: &str) -> PathBuf {
        let path = temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn version_is_read_from_package_json() {
        let temp = TempDir::new().unwrap();
        write(&temp, "node_modules/tool/package.json", r#"{"version": "1.2.3"}"#);
        let script = write(&temp, "node_modules/tool/dist/bin/tool.js", "");
        let link = temp.path().join("tool");
        std::os::unix::fs::symlink(script, &link).unwrap();
        assert_eq!(of(&link).as_deref(), Some("1.2.3"));
    }

    #[test]
    fn package_json_of_a_package_that_depends_on_the_program_is_ignored() {
        let temp = TempDir::new().unwrap();
        write(&temp, "package.json", r#"{"version": "9.9.9"}"#);
        let program = write(&temp, "node_modules/tool/tool", "");
        assert_eq!(of(&program), None);
    }

    #[test]
    fn version_is_read_from_the_name_of_a_folder_or_file() {
        let temp = TempDir::new().unwrap();
        let file = write(&temp, "share/tool/versions/2.1.197", "");
        assert_eq!(of(&file).as_deref(), Some("2.1.197"));
        let inside = write(&temp, "share/tool/v3.0/bin/tool", "");
        assert_eq!(of(&inside).as_deref(), Some("3.0"));
        let plain = write(&temp, "bin/tool", "");
        assert_eq!(of(&plain), None);
    }
}
