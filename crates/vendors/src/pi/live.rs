//! Finds the processes that have a conversation open, by their open files.
//!
//! The extension keeps the transcript and its folder open. A process that only reads a transcript
//! does not have the folder open. A Pi process without the extension is not found.

use segue_core::model::VendorSessionId;
use segue_core::ports::{Files, Live, Place};

use super::paths;
use crate::shared::live;

/// Lists the processes that have a conversation open and run the extension.
pub(super) fn live(files: &dyn Files, place: &Place) -> Vec<Live> {
    let folder = paths::transcripts_folder(place);
    let open = files.opened_in(&folder, None).into_iter();
    let by_extension = open.filter(|(pid, _)| files.is_open_in(&folder, *pid));
    live::sorted(by_extension.filter_map(|(pid, path)| {
        Some(Live { pid, started: None, id: VendorSessionId::new(paths::id_of(&path)?) })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    #[test]
    fn process_with_folder_and_transcript_open_is_in_that_conversation() {
        let home = Home::new();
        let ids = ["01a1e1b4-9591-7600-96ed-7294b417ca9a", "01a1e1fd-1e0a-7538-9b35-d40b3e394bc5"];
        let write = |id| home.write(&format!("sessions/--code-a--/2026_{id}.jsonl"), "");
        let paths = ids.map(write);
        assert_eq!(live(&home.disk, &home.place), []);
        home.disk.open_in(paths::transcripts_folder(&home.place), 7);
        home.disk.open_in(&paths[1], 7);
        home.disk.open_in(home.write("sessions/--code-a--/notes.jsonl", ""), 7);
        home.disk.open_in(&paths[0], 8);
        let wanted = Live { pid: 7, started: None, id: VendorSessionId::new(ids[1]) };
        assert_eq!(live(&home.disk, &home.place), [wanted]);
    }
}
