//! The session or conversation that a handoff starts from.

use std::sync::Arc;

use segue_core::api::{AdoptCandidate, HandoffRequest};
use segue_core::flows::handoff::SourceConversation;
use segue_core::flows::look::{self, Asked};
use segue_core::flows::select::find as find_session;
use segue_core::flows::{SessionState, adopt, conversation, view};
use segue_core::model::{Launch, Principal, Session, VendorSessionId};
use segue_core::ports::Place;
use segue_core::rules::redaction::KnownSecrets;
use segue_core::{Error, Kind, Result};

use super::super::Supervisor;

/// The session that a handoff starts from, and its conversation if it has one.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) session: Session,
    pub(super) source: Option<SourceConversation>,
    /// How many messages are queued for its agent. They stay there.
    pub(super) queued: usize,
    /// Whether its last turn is incomplete.
    pub(super) is_cut_off: bool,
    /// Secret values of its folder and its launch, which must not be carried over.
    pub(super) known: KnownSecrets,
    /// `Some` if the conversation was started without Segue and has no session yet.
    stranger: Option<AdoptCandidate>,
}

/// Finds the session or the conversation that the request names.
pub(super) async fn find(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &HandoffRequest,
) -> Result<Origin> {
    let unknown = match find_session(
        &supervisor.ports,
        principal,
        &request.from,
        &request.caller.cwd,
    )
    .await
    {
        Ok(summary) => return Origin::of(supervisor, summary.session).await,
        Err(error) if error.kind == Kind::NotFound => error,
        Err(error) => return Err(error),
    };
    let Some((vendor, id)) = request.from.split_once(':') else { return Err(unknown) };
    let vendor = supervisor.ports.vendors.named(vendor)?;
    // If a session has this conversation, use that session.
    if let Ok(summary) = find_session(&supervisor.ports, principal, id, &request.caller.cwd).await
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
        if vendor.transcripts().is_none() && state.vendor_session().is_some() {
            return Err(unreadable(&session));
        }
        let sight = look::look(ports, &state, Asked::ByName).await?;
        let is_cut_off = sight.conversation.as_ref().is_some_and(|it| it.turn_open);
        let own = sight.conversation.map(|it| (it.id, it.transcript));
        let kept = match own {
            Some(own) => Some(own),
            // The vendor's own transcript is gone. Read the guard or the archive instead.
            None => conversation::of_session(ports, &view::summary(&state))
                .await
                .map(|part| part.vendor_session_id.zip(part.transcript))?,
        };
        let place = state.place();
        let source =
            kept.map(|(id, transcript)| SourceConversation { vendor, place, id, transcript });
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
        let known = conversation::read(ports, vendor.as_ref(), &place, id)?;
        let is_cut_off = known.as_ref().is_some_and(|it| it.turn_open);
        let source = known.map(|it| SourceConversation {
            vendor,
            place,
            id: it.id,
            transcript: it.transcript,
        });
        let session = adopt::draft(&supervisor.ports, &stranger, None).await?;
        let known = values_of(supervisor, &session, None).await;
        Ok(Self { session, source, queued: 0, is_cut_off, known, stranger: Some(stranger) })
    }

    /// Creates a session for a conversation that has none.
    pub(super) async fn taken_in(mut self, supervisor: &Arc<Supervisor>) -> Result<Self> {
        if let Some(stranger) = self.stranger.take() {
            let id = &stranger.vendor_session_id;
            adopt::take_in(&supervisor.ports, self.session.clone(), id, Vec::new()).await?;
        }
        Ok(self)
    }

    pub(super) async fn looked_at_again(self, supervisor: &Arc<Supervisor>) -> Result<Self> {
        let mut again = Self::of(supervisor, self.session).await?;
        // The holder may be gone by now, and only it had the environment.
        again.known.merge(self.known);
        Ok(again)
    }
}

/// Returns the error for a session whose conversation Segue cannot read.
fn unreadable(session: &Session) -> Error {
    let (name, vendor) = (session.address(), &session.vendor);
    Error::vendor(format!("the conversation of `{name}` cannot be read"))
        .caused_by(format!("`{vendor}` keeps no transcript that is known"))
        .hint(format!("name it with `transcript = \"…\"` in `[vendors.{vendor}]`"))
}

/// Collects the secret values of a session: those in the `.env` files of its folder, and those in
/// the environment of its launch. They are kept in memory only.
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
