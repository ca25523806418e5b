//! Everything that is decided about a handoff before the old agent is ended.

use super::{
    Destination, EarlierSession, HandoffSource, HandoffTarget, TargetSession, TransferLimit,
};
use crate::error::Result;
use crate::flows::conversation;
use crate::model::{RequestKey, Session};
use crate::ports::{Place, Ports};
use crate::rules::handoff::{
    ConversationContent, HandoffMethod, HandoffMode, choose_method, unfinished_turn_message,
};
use crate::rules::redaction::KnownSecrets;

/// A handoff: where the conversation comes from, where it goes, and how.
#[derive(Clone, Debug)]
pub struct HandoffPlan {
    pub source: HandoffSource,
    pub target: HandoffTarget,
    /// The target vendor's own session of the same conversation, if the conversation was there
    /// before.
    pub earlier: Option<EarlierSession>,
    pub(super) options: HandoffOptions,
    /// Secret values that must not be handed over: those of the source, and those in the
    /// environment of the request.
    pub(super) known_secrets: KnownSecrets,
}

/// What a request decides about a handoff.
#[derive(Clone, Debug, Default)]
pub struct HandoffOptions {
    pub mode: HandoffMode,
    /// The name of the new session.
    pub name: Option<String>,
    /// Maximum size in characters.
    pub budget: Option<usize>,
    /// The request that asks for the handoff.
    pub request: Option<RequestKey>,
}

impl HandoffPlan {
    /// Plans a handoff to the vendor's earlier session of the conversation, or to a new session if
    /// there is none or if the request names one.
    pub async fn new(
        ports: &Ports,
        source: HandoffSource,
        target: HandoffTarget,
        options: HandoffOptions,
    ) -> Result<Self> {
        let earlier = match &options.name {
            Some(_) => None,
            None => EarlierSession::find(ports, &source.session, &target.vendor.id()).await?,
        };
        Ok(Self { earlier, options, ..Self::to_new_session(source, target) })
    }

    /// Plans a handoff to a new session, with default options.
    pub fn to_new_session(source: HandoffSource, target: HandoffTarget) -> Self {
        let mut known_secrets = source.known_secrets.clone();
        known_secrets.add_environment(target.environment.iter());
        let options = HandoffOptions::default();
        Self { source, target, earlier: None, options, known_secrets }
    }

    /// Returns the existing sessions that take part in this handoff.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        let earlier = self.earlier.as_ref().map(|earlier| &earlier.session);
        std::iter::once(&self.source.session).chain(earlier)
    }

    /// Returns an error if the handoff is impossible: the name is taken, or the vendor does not
    /// accept the requested form.
    pub async fn check(&self, ports: &Ports) -> Result<()> {
        let target = self.target_session(ports).await?;
        self.method(ports, &target).map(|_| ())
    }

    /// Returns the session that continues the conversation: the vendor's earlier session of it, or
    /// a new one.
    pub async fn target_session(&self, ports: &Ports) -> Result<TargetSession> {
        let request = self.options.request;
        if let Some(EarlierSession { session, conversation, .. }) = &self.earlier {
            let (session, conversation) = (session.clone(), conversation.id.clone());
            let (is_new, is_recorded) = (false, true);
            return Ok(TargetSession { session, conversation, is_new, is_recorded, request });
        }
        let (from, name) = (&self.source.session, self.options.name.as_deref());
        let target = self.target.new_session(ports, from, name).await?;
        Ok(TargetSession { request, ..target })
    }

    /// Chooses the form in which the conversation is handed over.
    pub fn method(&self, ports: &Ports, target: &TargetSession) -> Result<HandoffMethod> {
        let content = match self.source.has_messages(ports)? {
            true => ConversationContent::HasMessages,
            false => ConversationContent::Empty,
        };
        let takes_native = self.destination(ports, target).takes_native(ports)?;
        choose_method(self.options.mode, takes_native, content)
    }

    /// Returns where the conversation is written in the target's own format.
    pub(super) fn destination(&self, ports: &Ports, target: &TargetSession) -> Destination {
        let session = &target.session;
        Destination {
            vendor: self.target.vendor.clone(),
            place: Place::of(session),
            id: target.conversation.clone(),
            title: session.address(),
            model: session.model.clone(),
            append_to: self.earlier.as_ref().map(|earlier| earlier.conversation.transcript.clone()),
            import: ports.folders.import(session.id),
        }
    }

    /// Returns how much is handed over. `default_budget` applies if the request has no budget.
    pub(super) fn limit(&self, default_budget: usize) -> TransferLimit {
        let since = self.earlier.as_ref().and_then(|earlier| earlier.shared_until);
        TransferLimit { budget: self.options.budget.unwrap_or(default_budget), since }
    }

    /// Returns the first message to the target if the source's last turn was cut off.
    pub fn first_message(&self) -> Option<String> {
        let title = self.source.conversation.as_ref()?.vendor.support().title;
        self.source.is_cut_off.then(|| unfinished_turn_message(title))
    }

    /// Returns whether the vendor has the transferred history and did not start a new conversation.
    pub fn has_history(&self, ports: &Ports, target: &TargetSession) -> Result<bool> {
        let to = self.destination(ports, target);
        let known = conversation::read(ports, to.vendor.as_ref(), &to.place, &to.id)?;
        Ok(known.is_some_and(|it| it.first_message.is_some()))
    }
}
