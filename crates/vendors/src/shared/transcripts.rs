//! Lists transcripts by file name and modification time, and conversations by the time at which
//! they began.

use std::io;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Conversation, Files, Place, StoredConversation};

use super::files;

/// Returns the transcripts among these paths. `id_of` reads the id from a path. Paths without an id
/// or without metadata are skipped.
pub(crate) fn kept(
    files: &dyn Files,
    paths: impl IntoIterator<Item = PathBuf>,
    id_of: impl Fn(&Path) -> Option<VendorSessionId>,
) -> Vec<StoredConversation> {
    let transcript = |path: PathBuf| {
        let id = id_of(&path)?;
        let modified = files.facts(&path).ok()??.modified;
        Some(StoredConversation { id, transcript: path, modified })
    };
    paths.into_iter().filter_map(transcript).collect()
}

/// Lists the paths in all folders inside a folder. Files in that folder, and folders that cannot be
/// read, are skipped.
pub(crate) fn paths_in_subfolders(files: &dyn Files, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let subfolders = files.list(folder)?;
    Ok(subfolders.iter().flat_map(|subfolder| files.list(subfolder).unwrap_or_default()).collect())
}

/// Reads the conversations of a working folder from a folder of transcripts, the oldest first.
/// `id_of` reads the id from a path. Transcripts that cannot be read are skipped. Transcripts of
/// other working folders are skipped, too: two working folders can share one folder of transcripts.
pub(crate) fn conversations_in(
    files: &dyn Files,
    (place, folder): (&Place, &Path),
    id_of: impl Fn(&Path) -> Option<VendorSessionId>,
    read: impl Fn(&Path, &VendorSessionId) -> io::Result<Option<Conversation>>,
) -> Result<Vec<Conversation>> {
    let paths = files::list(files, folder, "transcripts")?;
    let with_id = paths.iter().filter_map(|path| Some((path, id_of(path)?)));
    let conversations = with_id.filter_map(|(path, id)| read(path, &id).ok().flatten());
    Ok(oldest_first(conversations.filter(|conversation| conversation.cwd == place.cwd)))
}

/// Sorts conversations by the time at which they began.
pub(crate) fn oldest_first(
    conversations: impl IntoIterator<Item = Conversation>,
) -> Vec<Conversation> {
    let mut conversations: Vec<Conversation> = conversations.into_iter().collect();
    conversations.sort_by(|a, b| (a.began_at, &a.id).cmp(&(b.began_at, &b.id)));
    conversations
}

/// Sorts paths by name, the last one first. For names that begin with a time, that is the newest.
pub(crate) fn last_name_first(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort_unstable_by(|a, b| b.cmp(a));
    paths
}
