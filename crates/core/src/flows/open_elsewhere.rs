//! Finds conversations of sessions that are open in processes outside of Segue.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::flows::look;
use crate::model::{SessionId, VendorId};
use crate::ports::{Live, Place, Ports, SessionQuery, SessionSummary, VendorPlace};
use crate::rules::recovery::OpeningProcess;

/// At most this many places are checked, those of the newest sessions. For some vendors, one check
/// reads the open files of every process on the machine.
const MAX_PLACES: u32 = 32;

/// The beginning of a status detail that names the process in which a conversation is open.
const OPEN_ELSEWHERE: &str = "open elsewhere";

/// The processes that report open conversations, by vendor.
pub type OpenConversations = Vec<(VendorId, Vec<Live>)>;

/// A session without an open launch whose conversation is open in another process.
#[derive(Clone, Debug)]
pub struct OpenElsewhere {
    pub summary: SessionSummary,
    /// The process in which it is open.
    pub pid: u32,
    /// Names the process, for the user.
    pub detail: String,
}

/// Returns the places that a list of all sessions checks.
pub async fn places(ports: &Ports) -> Result<Vec<VendorPlace>> {
    ports.store.resting_places(MAX_PLACES).await
}

/// Returns the place to check for one session. `None` if it has an open launch.
pub fn place_of(summary: &SessionSummary) -> Option<VendorPlace> {
    let session = &summary.session;
    let place = || VendorPlace { vendor: session.vendor.clone(), place: Place::of(session) };
    summary.open.is_none().then(place)
}

/// Finds the processes that report open conversations in these places. Blocks: it reads the
/// vendors' files, and for some vendors the open files of every process.
pub fn open_conversations(ports: &Ports, places: Vec<VendorPlace>) -> OpenConversations {
    let live = |VendorPlace { vendor, place }: VendorPlace| {
        // If one place cannot be read, the others are still checked.
        let known = ports.vendors.get(&vendor).ok()?;
        let live = known.transcripts()?.open_conversations(ports.files.as_ref(), &place).ok()?;
        (!live.is_empty()).then_some((vendor, live))
    };
    places.into_iter().filter_map(live).collect()
}

/// Returns the sessions without an open launch whose conversations these processes have open.
pub async fn sessions(ports: &Ports, open: OpenConversations) -> Result<Vec<OpenElsewhere>> {
    let mut sessions: BTreeMap<SessionId, OpenElsewhere> = BTreeMap::new();
    for (vendor, live) in open {
        let ids = live.iter().map(|it| it.id.clone()).collect();
        let query = SessionQuery {
            vendor: Some(vendor),
            vendor_sessions: Some(ids),
            ..SessionQuery::default()
        };
        for summary in ports.store.sessions(&query).await? {
            if let Some((pid, command)) = foreign_process(ports, &summary, &live).await? {
                let detail = format!("{OPEN_ELSEWHERE}: process {pid} ({command})");
                sessions.insert(summary.session.id, OpenElsewhere { summary, pid, detail });
            }
        }
    }
    Ok(sessions.into_values().collect())
}

/// Returns the id and the command of the process that has the conversation of a session open.
async fn foreign_process(
    ports: &Ports,
    summary: &SessionSummary,
    live: &[Live],
) -> Result<Option<(u32, String)>> {
    let (Some(binding), None) = (&summary.binding, &summary.open) else { return Ok(None) };
    let launches = ports.store.launches(summary.session.id).await?;
    Ok(match look::foreign(ports, &launches, live, &binding.vendor_session) {
        OpeningProcess::Foreign { pid, command } => Some((pid, command)),
        _ => None,
    })
}
