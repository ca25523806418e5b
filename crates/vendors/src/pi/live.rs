//! Which process has a conversation open. Pi's own processes show nothing; those with our extension
//! have the transcript and its folder open. Whoever only reads a transcript has no folder open.

use segue_core::model::VendorSessionId;
use segue_core::ports::{Files, Live, Place};

use super::home;

/// Lists who has which conversation open, as far as our extension is in the process.
pub(super) fn live(files: &dyn Files, place: &Place) -> Vec<Live> {
    let folder = home::transcripts(place);
    let open = files.opened_in(&folder, None).into_iter();
    let mut found: Vec<Live> = open
        .filter(|(pid, _)| files.is_open_in(&folder, *pid))
        .filter_map(|(pid, path)| {
            Some(Live { pid, started: None, id: VendorSessionId::new(home::id_of(&path)?) })
        })
        .collect();
    found.sort_by(|a, b| (a.pid, &a.id).cmp(&(b.pid, &b.id)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Home;

    #[test]
    fn a_process_is_in_the_conversation_whose_file_it_has_open() {
        let home = Home::new();
        let ids = ["01a1e1b4-9591-7600-96ed-7294b417ca9a", "01a1e1fd-1e0a-7538-9b35-d40b3e394bc5"];
        let write = |id| home.write(&format!("sessions/--code-a--/2026_{id}.jsonl"), "");
        let paths = ids.map(write);
        assert_eq!(live(&home.disk, &home.place), []);
        home.disk.open_in(home::transcripts(&home.place), 7);
        home.disk.open_in(&paths[1], 7);
        home.disk.open_in(home.write("sessions/--code-a--/notes.jsonl", ""), 7);
        home.disk.open_in(&paths[0], 8);
        let wanted = Live { pid: 7, started: None, id: VendorSessionId::new(ids[1]) };
        assert_eq!(live(&home.disk, &home.place), [wanted]);
    }
}
