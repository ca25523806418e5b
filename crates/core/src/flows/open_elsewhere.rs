//! Conversations of sessions that somebody has open in a terminal of their own.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::api::SessionView;
use crate::error::Result;
use crate::flows::look;
use crate::model::{SessionId, VendorId, VendorSessionId};
use crate::ports::{Live, Place, Ports, SessionSummary};
use crate::rules::recovery::Process;

/// So many places of vendors are looked at, those of the newest sessions: some vendors can only be
/// asked through every process of the machine.
const PLACES: usize = 32;

/// How the detail of a status begins that says where a conversation is open.
const OPEN_ELSEWHERE: &str = "open elsewhere";

/// Tells whether a session is shown as open in a terminal elsewhere.
pub fn is_described(view: &SessionView) -> bool {
    view.status_detail.as_deref().is_some_and(|detail| detail.starts_with(OPEN_ELSEWHERE))
}

/// A session without a process, whose conversation a process claims.
#[derive(Clone, Debug)]
pub struct Claimed {
    session: SessionId,
    id: VendorSessionId,
    live: Vec<Live>,
}

/// Returns the sessions whose conversations some process claims. It reads what vendors write down,
/// and for some vendors what every process has open.
pub fn claimed(ports: &Ports, sessions: &[SessionSummary]) -> Vec<Claimed> {
    let mut places: BTreeMap<(VendorId, PathBuf, PathBuf), Vec<Live>> = BTreeMap::new();
    let mut claimed = Vec::new();
    for SessionSummary { session, binding, open, .. } in sessions.iter().rev() {
        let (Some(binding), None) = (binding, open) else { continue };
        let place = Place { config_dir: session.config_dir.clone(), cwd: session.cwd.clone() };
        let key = (session.vendor.clone(), place.config_dir.clone(), place.cwd.clone());
        if !places.contains_key(&key) && places.len() == PLACES {
            continue;
        }
        let Ok(vendor) = ports.vendors.of(session) else { continue };
        let live = places
            .entry(key)
            .or_insert_with(|| vendor.live(ports.files.as_ref(), &place).unwrap_or_default());
        let id = &binding.vendor_session;
        let own: Vec<Live> = live.iter().filter(|it| it.id == *id).cloned().collect();
        if !own.is_empty() {
            claimed.push(Claimed { session: session.id, id: id.clone(), live: own });
        }
    }
    claimed
}

/// Describes, for each session whose conversation is open elsewhere, in which process that is.
pub async fn describe(ports: &Ports, claimed: Vec<Claimed>) -> Result<HashMap<SessionId, String>> {
    let mut open = HashMap::new();
    for Claimed { session, id, live } in claimed {
        let launches = ports.store.launches(session).await?;
        if let Process::Foreign { pid, command } = look::foreign(ports, &launches, &live, &id) {
            open.insert(session, format!("{OPEN_ELSEWHERE}: process {pid} ({command})"));
        }
    }
    Ok(open)
}
