//! The settings of a shared clone. They are ours, but an agent in a worktree can write to them, and
//! some settings run programs. Only settings that cannot run a program stay.

use std::collections::BTreeSet;
use std::path::Path;

use segue_core::model::CheckoutNotice;
use segue_core::{Result, failpoint};

use crate::locked::LockedRepository;

/// Sections in which no setting can run a program.
const SECTIONS: [&str; 11] = [
    "advice",
    "author",
    "color",
    "committer",
    "extensions",
    "log",
    "maintenance",
    "pull",
    "push",
    "status",
    "user",
];

/// Settings in other sections that cannot run a program. `*` stands for a name.
const SETTINGS: [&str; 40] = [
    "branch.*.description",
    "branch.*.merge",
    "branch.*.pushremote",
    "branch.*.rebase",
    "branch.*.remote",
    "commit.gpgsign",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.compression",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "fetch.prune",
    "fetch.prunetags",
    "gc.auto",
    "index.sparse",
    "init.defaultbranch",
    "lfs.*.access",
    "lfs.*.locksverify",
    "lfs.repositoryformatversion",
    "merge.conflictstyle",
    "merge.ff",
    "remote.*.fetch",
    "remote.*.partialclonefilter",
    "remote.*.promisor",
    "remote.*.prune",
    "remote.*.push",
    "remote.*.pushurl",
    "remote.*.tagopt",
    "remote.*.url",
    "submodule.*.url",
];

/// Removes all settings of a clone that could run a program. Returns a notice if there were some.
pub(crate) async fn remove_foreign(
    repository: &LockedRepository<'_>,
) -> Result<Option<CheckoutNotice>> {
    let mut names: Vec<String> = Vec::new();
    for file in ["config", "config.worktree"] {
        let path = repository.folders.common.join(file);
        names.extend(remove_foreign_settings(repository, &path).await?);
    }
    names.sort();
    names.dedup();
    Ok((!names.is_empty()).then_some(CheckoutNotice::SettingsRemoved { names }))
}

/// Removes all settings in a file that could run a program, and returns their names.
pub(crate) async fn remove_foreign_settings(
    repository: &LockedRepository<'_>,
    path: &Path,
) -> Result<BTreeSet<String>> {
    if !path.is_file() {
        return Ok(BTreeSet::new());
    }
    let command = || repository.git.closed(&repository.folders.common).arg("config");
    let command = || command().arg("--file").arg(path);
    let output = command().args(["--list", "--name-only", "-z"]).run().await?;
    let text = String::from_utf8_lossy(&output).into_owned();
    let names = text.split('\0').filter(|name| !name.is_empty() && !is_data(name));
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    for name in &names {
        let command = command().args(["--unset-all", name]);
        command.holding(&repository.lock)?.run().await?;
        failpoint::hit("git.clone.settings.after");
    }
    Ok(names)
}

/// Returns whether a setting cannot run a program. Git prints section and key in lower case.
fn is_data(name: &str) -> bool {
    let Some((section, key)) = name.split_once('.') else { return false };
    let pattern = match key.rsplit_once('.') {
        Some((_, key)) => format!("{section}.*.{key}"),
        None => name.to_owned(),
    };
    let is_plain = !key.contains('.');
    is_plain && SECTIONS.contains(&section) || SETTINGS.contains(&pattern.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_can_run_programs_are_not_data() {
        for name in [
            "alias.st",
            "core.askpass",
            "core.editor",
            "core.fsmonitor",
            "core.gitproxy",
            "core.hookspath",
            "core.pager",
            "core.sshcommand",
            "core.worktree",
            "credential.helper",
            "credential.https://h.helper",
            "diff.external",
            "diff.x.textconv",
            "filter.x.smudge",
            "gc.recentobjectshook",
            "gpg.program",
            "http.proxy",
            "include.path",
            "includeif.gitdir:/x.path",
            "lfs.customtransfer.x.path",
            "merge.x.driver",
            "pull.x.y",
            "remote.origin.uploadpack",
            "remote.origin.vcs",
            "submodule.x.update",
            "uploadpack.packobjectshook",
            "url.ext::x.insteadof",
        ] {
            assert!(!is_data(name), "{name}");
        }
        for name in [
            "branch.feature/x.y.merge",
            "core.bare",
            "extensions.objectformat",
            "lfs.https://h/info/lfs.access",
            "remote.origin.url",
            "user.name",
        ] {
            assert!(is_data(name), "{name}");
        }
    }
}
