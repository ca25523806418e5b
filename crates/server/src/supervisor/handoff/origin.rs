//! Where a conversation is carried from.

use std::sync::Arc;

use segue_core::api::{AdoptCandidate, HandoffRequest};
use segue_core::flows::handoff::Source;
use segue_core::flows::look::{self, Asked};
use segue_core::flows::{SessionState, adopt, conversation, view};
use segue_core::model::{Launch, Session, VendorSessionId};
use segue_core::ports::Place;
use segue_core::rules::redaction::KnownSecrets;
use segue_core::rules::scope::Scope;
use segue_core::{Error, Kind, Result};

use super::super::adopt as taking_in;
use super::super::{Supervisor, find as find_session};

/// The session that a conversation is from, and the conversation, if there is one.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) session: Session,
    pub(super) source: Option<Source>,
    /// So many messages wait to be said to its agent, and stay there.
    pub(super) queued: usize,
    /// Its last turn has no end.
    pub(super) is_cut_off: bool,
    /// Values of its folder and its launch that must not go over.
    pub(super) known: KnownSecrets,
    /// It was begun by hand, and has no session of its own yet.
    stranger: Option<AdoptCandidate>,
}

/// Finds the session or the conversation that somebody named.
pub(super) async fn find(
    supervisor: &Arc<Supervisor>,
    scope: &Scope,
    request: &HandoffRequest,
) -> Result<Origin> {
    let unknown = match find_session(supervisor, scope, &request.from, &request.caller.cwd).await {
        Ok(summary) => return Origin::of(supervisor, summary.session).await,
        Err(error) if error.kind == Kind::NotFound => error,
        Err(error) => return Err(error),
    };
    let Some((vendor, id)) = request.from.split_once(':') else { return Err(unknown) };
    let vendor = supervisor.ports.vendors.named(vendor)?;
    // A conversation that has a session already is that session's.
    if let Ok(summary) = find_session(supervisor, scope, id, &request.caller.cwd).await
        && summary.session.vendor == vendor.id()
    {
        return Origin::of(supervisor, summary.session).await;
    }
    let wanted = adopt::Wanted {
        vendor: Some(vendor.id()),
        id: Some(VendorSessionId::new(id)),
        ..adopt::Wanted::default()
    };
    let found = adopt::candidates(&supervisor.ports, &request.caller.environment, &wanted).await?;
    match found.into_iter().next() {
        Some(candidate) => Origin::of_stranger(supervisor, candidate).await,
        None => Err(Error::not_found(format!("there is no conversation `{}`", request.from))
            .hint("run `segue adopt` to see the conversations that were begun by hand")),
    }
}

impl Origin {
    pub(super) async fn of(supervisor: &Arc<Supervisor>, session: Session) -> Result<Self> {
        let ports = &supervisor.ports;
        let vendor = ports.vendors.of(&session)?;
        let state = SessionState::load(ports, session.id).await?;
        let sight = look::look(ports, &state, Asked::ByName).await?;
        let is_cut_off = sight.conversation.as_ref().is_some_and(|it| it.turn_open);
        let own = sight.conversation.map(|it| (it.id, it.transcript));
        let kept = match own {
            Some(own) => Some(own),
            // The vendor's own is gone; what was kept of it can be read all the same.
            None => conversation::of_session(ports, &view::summary(&state))
                .await
                .map(|part| part.vendor_session_id.zip(part.transcript))?,
        };
        let place = state.place();
        let source = kept.map(|(id, transcript)| Source { vendor, place, id, transcript });
        let queued = state.outbox.len();
        let known = values_of(supervisor, &session, state.launches.last()).await;
        Ok(Self { session, source, queued, is_cut_off, known, stranger: None })
    }

    async fn of_stranger(supervisor: &Arc<Supervisor>, stranger: AdoptCandidate) -> Result<Self> {
        if let Some(pid) = stranger.open_in {
            let (vendor, id) = (&stranger.vendor, &stranger.vendor_session_id);
            return Err(Error::conflict(format!("`{vendor}:{id}` is open in process {pid}"))
                .hint("end that process, then try again"));
        }
        let ports = &supervisor.ports;
        let vendor = ports.vendors.get(&stranger.vendor)?;
        let (config_dir, cwd) = (stranger.config_dir.clone(), stranger.cwd.clone());
        let place = Place { config_dir, cwd };
        let id = &stranger.vendor_session_id;
        let known = vendor.conversation(ports.files.as_ref(), &place, id)?;
        let is_cut_off = known.as_ref().is_some_and(|it| it.turn_open);
        let source = known.map(|it| Source { vendor, place, id: it.id, transcript: it.transcript });
        let session = taking_in::draft(supervisor, &stranger, None).await?;
        let known = values_of(supervisor, &session, None).await;
        Ok(Self { session, source, queued: 0, is_cut_off, known, stranger: Some(stranger) })
    }

    /// Makes a session of a conversation that has none.
    pub(super) async fn taken_in(mut self, supervisor: &Arc<Supervisor>) -> Result<Self> {
        if let Some(stranger) = self.stranger.take() {
            let id = &stranger.vendor_session_id;
            adopt::take_in(&supervisor.ports, self.session.clone(), id, Vec::new()).await?;
        }
        Ok(self)
    }

    pub(super) async fn looked_at_again(self, supervisor: &Arc<Supervisor>) -> Result<Self> {
        let mut again = Self::of(supervisor, self.session).await?;
        // The holder may be gone by now, and the environment that only it had.
        again.known.merge(self.known);
        Ok(again)
    }
}

/// Collects the values that must not leave a session: of the files of variables in its folder, and of
/// the environment of its launch. They stay in memory.
async fn values_of(
    supervisor: &Arc<Supervisor>,
    session: &Session,
    launch: Option<&Launch>,
) -> KnownSecrets {
    let mut known = KnownSecrets::default();
    known.add_environment(session.env.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    if let Some(launch) = launch
        && let Ok(Some(environment)) = supervisor.ports.holders.environment(launch.id).await
    {
        known.add_environment(environment.iter());
    }
    let (machine, folder) = (Arc::clone(&supervisor.ports.machine), session.cwd.clone());
    let read = tokio::task::spawn_blocking(move || machine.variable_files(&folder)).await;
    for text in read.unwrap_or_default() {
        known.add_variables(&text);
    }
    known
}
