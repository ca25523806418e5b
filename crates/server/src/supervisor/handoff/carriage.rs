//! Carries out one handoff: moves a conversation from one session to another.

use std::sync::{Arc, Mutex};

use segue_core::api::{
    AgentOutcome, CarriedTurn, DryRun, HandoffReport, HandoffRequest, Outcome, SessionRef,
};
use segue_core::flows::handoff::{
    self, ConversationExcerpt, Destination, SourceConversation, TransferLimit, WrittenConversation,
};
use segue_core::flows::launch::LaunchRequest;
use segue_core::flows::look::Asked;
use segue_core::flows::{SessionState, conversation};
use segue_core::model::{
    Environment, HandoffForm, RequestKey, Session, Status, Turn, VendorSessionId,
};
use segue_core::rules::accounts::Wanted;
use segue_core::rules::digest::{self, DigestInput, FolderState};
use segue_core::rules::handoff::{ConversationContent, HandoffMethod, HandoffMode, choose_method};
use segue_core::rules::redaction::{KnownSecrets, Redactor};
use segue_core::{Error, Result};

use super::super::{Outgoing, SessionRequest, Supervisor, Wish};
use super::origin::Origin;
use super::seat::{Load, Seat};
use super::target::Target;
use super::way_back::{self, Earlier};

/// A transcript of at most this many bytes is loaded as a whole. A longer one is converted as a
/// stream if all of it fits into the budget.
const HELD: u64 = 8 * 1024 * 1024;

/// One handoff in progress.
pub(super) struct Carriage {
    pub(super) supervisor: Arc<Supervisor>,
    pub(super) origin: Origin,
    target: Target,
    /// The target vendor's own session of the same conversation, if the conversation was there
    /// before.
    pub(super) earlier: Option<Earlier>,
    mode: HandoffMode,
    name: Option<String>,
    budget: Option<usize>,
    /// The request that asked for the handoff. It is taken when its step is recorded in the store.
    pub(super) request: Mutex<Option<RequestKey>>,
    /// Whether a dry run returns the content of the vendor's own file.
    is_raw: bool,
    /// Secret values that must not be carried over.
    known: Arc<KnownSecrets>,
}

impl Carriage {
    pub(super) async fn new(
        supervisor: &Arc<Supervisor>,
        origin: Origin,
        target: Target,
        request: &HandoffRequest,
    ) -> Result<Self> {
        // A request with another name wants another session.
        let earlier = match &request.name {
            Some(_) => None,
            None => way_back::find(supervisor, &origin.session, target.vendor.id()).await?,
        };
        let known = known(&origin, &target);
        Ok(Self {
            supervisor: Arc::clone(supervisor),
            origin,
            target,
            earlier,
            mode: request.mode,
            name: request.name.clone(),
            budget: request.budget,
            request: Mutex::default(),
            is_raw: request.dry_run == DryRun::Raw,
            known,
        })
    }

    /// Sets the request that asked for this handoff.
    pub(super) fn asked_by(self, key: Option<RequestKey>) -> Self {
        Self { request: Mutex::new(key), ..self }
    }

    /// Prepares a handoff to a session that is decided already.
    pub(super) fn to_draft(supervisor: &Arc<Supervisor>, origin: Origin, target: Target) -> Self {
        let supervisor = Arc::clone(supervisor);
        let (mode, name, budget, is_raw) = (HandoffMode::Auto, None, None, false);
        let (request, known) = (Mutex::default(), known(&origin, &target));
        let earlier = None;
        Self { supervisor, origin, target, earlier, mode, name, budget, request, is_raw, known }
    }

    /// Returns the existing sessions that take part in this handoff.
    pub(super) fn sessions(&self) -> impl Iterator<Item = &Session> {
        let earlier = self.earlier.as_ref().map(|earlier| &earlier.session);
        std::iter::once(&self.origin.session).chain(earlier)
    }

    /// Returns an error if the handoff is impossible: the name is taken, or the vendor does not
    /// accept the requested form.
    pub(super) async fn check(&self) -> Result<()> {
        let seat = self.seat().await?;
        self.way(&seat).map(|_| ())
    }

    pub(super) async fn carry(mut self) -> Result<HandoffReport> {
        if let Some(earlier) = &mut self.earlier {
            earlier.settle(&self.supervisor).await?;
        }
        let mut seat = self.seat().await?;
        // No other request may start the new session until the conversation has arrived.
        let _until_it_arrived = match seat.is_new {
            true => Some(self.supervisor.on_the_way.claim(std::iter::once(&seat.session))?),
            false => None,
        };
        let way = self.way(&seat)?;
        let Some(source) = self.origin.source.clone() else { return self.plainly(seat).await };
        let else_digest = match way {
            HandoffMethod::Plain => return self.plainly(seat).await,
            HandoffMethod::Digest => return self.tell(seat, source, None).await,
            HandoffMethod::Native { else_digest } => else_digest,
        };
        match self.carry_natively(&mut seat, &source).await? {
            Native::Arrived(report) => Ok(*report),
            Native::NothingSaid => self.plainly(seat).await,
            Native::Failed(why) if else_digest => {
                self.tell(seat, source, Some(why.in_one_line())).await
            }
            Native::Failed(why) => {
                self.give_up(&seat).await;
                Err(why)
            }
        }
    }

    fn way(&self, seat: &Seat) -> Result<HandoffMethod> {
        let ports = &self.supervisor.ports;
        let content = match &self.origin.source {
            Some(source) if handoff::has_words(ports, source)? => ConversationContent::Something,
            _ => ConversationContent::Nothing,
        };
        choose_method(self.mode, handoff::takes_native(ports, &self.destination(seat))?, content)
    }

    /// Reports exactly what the vendor would get, and changes nothing.
    pub(super) async fn preview(self) -> Result<HandoffReport> {
        let seat = self.seat().await?;
        let way = self.way(&seat)?;
        let Some(source) = self.origin.source.clone().filter(|_| way != HandoffMethod::Plain)
        else {
            return Ok(self.report(&seat, &Load::none(HandoffForm::Plain), None));
        };
        if way == HandoffMethod::Digest {
            let (excerpt, content) = self.digest(source).await?;
            let form = if content.is_some() { HandoffForm::Digest } else { HandoffForm::Plain };
            let characters = length(content.as_deref());
            let load = Load { characters, ..Load::of(&excerpt, form) };
            let turns = excerpt.turns.iter().map(CarriedTurn::new).collect();
            return Ok(HandoffReport { content, turns, ..self.report(&seat, &load, None) });
        }
        let excerpt = self.pack(source, self.room()).await?;
        let form = if excerpt.has_words() { HandoffForm::Native } else { HandoffForm::Plain };
        let turns = excerpt.turns.iter().map(CarriedTurn::new).collect();
        let report = HandoffReport { turns, ..self.report(&seat, &Load::of(&excerpt, form), None) };
        if !self.is_raw {
            return Ok(report);
        }
        let (ports, to) = (self.supervisor.ports.clone(), self.destination(&seat));
        let written = blocking(move || handoff::preview(&ports, &excerpt, &to)).await?;
        let content = written.map(|it| String::from_utf8_lossy(&it).into_owned());
        Ok(HandoffReport { content, ..report })
    }

    /// Returns the session that continues the conversation: the vendor's earlier session of it, or
    /// a new one.
    async fn seat(&self) -> Result<Seat> {
        if let Some(Earlier { session, source, .. }) = &self.earlier {
            let (session, id) = (session.clone(), source.id.clone());
            return Ok(Seat { session, id, is_new: false, is_recorded: true });
        }
        let from = &self.origin.session;
        let name = self.target.name(&self.supervisor, from, self.name.as_deref()).await?;
        let session = self.target.session(&self.supervisor, from, name)?;
        let unique = self.supervisor.ports.clock.new_id();
        let preset = self.target.vendor.launching().preset_id(&session, unique);
        let id = preset.unwrap_or_else(|| VendorSessionId::new(unique.to_string()));
        Ok(Seat { session, id, is_new: true, is_recorded: false })
    }

    fn destination(&self, seat: &Seat) -> Destination {
        let session = &seat.session;
        Destination {
            vendor: Arc::clone(&self.target.vendor),
            place: segue_core::ports::Place {
                config_dir: session.config_dir.clone(),
                cwd: session.cwd.clone(),
            },
            id: seat.id.clone(),
            title: session.address(),
            model: session.model.clone(),
            onto: self.earlier.as_ref().map(|earlier| earlier.source.transcript.clone()),
            import: self.supervisor.ports.folders.import(session.id),
        }
    }

    /// Returns how many characters the target's vendor takes over. 0 if it takes over none; then
    /// the conversation is never written in its format.
    fn room(&self) -> usize {
        self.target.vendor.conversion().map_or(0, |conversion| conversion.room())
    }

    async fn pack(&self, source: SourceConversation, budget: usize) -> Result<ConversationExcerpt> {
        let since = self.earlier.as_ref().and_then(|earlier| earlier.newest);
        let amount = TransferLimit { budget: self.budget.unwrap_or(budget), since };
        let ports = self.supervisor.ports.clone();
        let known = Arc::clone(&self.known);
        blocking(move || handoff::gather(&ports, &source, amount, &known)).await
    }

    async fn carry_natively(&self, seat: &mut Seat, source: &SourceConversation) -> Result<Native> {
        let (written, load) = match self.write(seat, source).await? {
            Ok(written) => written,
            Err(native) => return Ok(native),
        };
        let (turns, characters) = (written.turns, written.characters);
        let load = Load { turns, characters, removed: written.removed.clone(), ..load };
        if let Err(error) = self.record(seat, &load).await {
            self.undo(written).await?;
            return Err(error);
        }
        if seat.session.headless {
            let note = Some("its next message begins its next turn".to_owned());
            return Ok(Native::Arrived(Box::new(self.report(seat, &load, note))));
        }
        let request = LaunchRequest {
            import: written.is_import.then(|| written.path.clone()),
            message: self.nudge(),
            ..LaunchRequest::resume(seat.id.clone(), self.environment())
        };
        let outcome = self.arrive(seat, request).await?;
        if outcome.outcome != Outcome::Refused && self.has_history(seat)? {
            let dialog = outcome.dialog;
            let report = self.report(seat, &load, outcome.note);
            return Ok(Native::Arrived(Box::new(HandoffReport { dialog, ..report })));
        }
        self.supervisor.end(seat.session.id).await?;
        self.undo(written).await?;
        let vendor = self.target.vendor.id();
        let why = Error::vendor(format!("`{vendor}` did not go on with the conversation"));
        Ok(Native::Failed(why.caused_by(outcome.note.unwrap_or_default())))
    }

    /// Writes the conversation in the target vendor's own format.
    async fn write(
        &self,
        seat: &Seat,
        source: &SourceConversation,
    ) -> Result<std::result::Result<(WrittenConversation, Load), Native>> {
        let (ports, to) = (self.supervisor.ports.clone(), self.destination(seat));
        let facts = ports.files.facts(&source.transcript).ok().flatten();
        let budget = self.budget.unwrap_or_else(|| self.room());
        let all = facts.is_some_and(|it| it.length > HELD && it.length <= budget as u64);
        let (written, load) = if all && self.earlier.is_none() {
            let (source, known) = (source.clone(), Arc::clone(&self.known));
            let written = blocking(move || handoff::convert(&ports, &source, &to, &known)).await;
            (written, Load::none(HandoffForm::Native))
        } else {
            let excerpt = self.pack(source.clone(), self.room()).await?;
            if !excerpt.has_words() {
                return Ok(Err(Native::NothingSaid));
            }
            let load = Load::of(&excerpt, HandoffForm::Native);
            (blocking(move || handoff::write(&ports, &excerpt, &to)).await, load)
        };
        Ok(match written {
            Ok(Some(written)) => Ok((written, load)),
            Ok(None) => Err(Native::NothingSaid),
            Err(error) => Err(Native::Failed(error)),
        })
    }

    async fn undo(&self, written: WrittenConversation) -> Result<()> {
        let ports = self.supervisor.ports.clone();
        blocking(move || handoff::undo(&ports, &written)).await
    }

    /// Returns whether the vendor has the carried history and did not start a new conversation.
    fn has_history(&self, seat: &Seat) -> Result<bool> {
        let to = self.destination(seat);
        let ports = &self.supervisor.ports;
        let known = conversation::read(ports, to.vendor.as_ref(), &to.place, &to.id)?;
        Ok(known.is_some_and(|it| it.first_message.is_some()))
    }

    /// Starts the next agent with one message that summarizes the conversation.
    async fn tell(
        &self,
        mut seat: Seat,
        source: SourceConversation,
        why: Option<String>,
    ) -> Result<HandoffReport> {
        let (excerpt, message) = self.digest(source).await?;
        let Some(message) = message else { return self.plainly(seat).await };
        let load =
            Load { characters: length(Some(&message)), ..Load::of(&excerpt, HandoffForm::Digest) };
        self.begin(&mut seat, &load, Some(message), why).await
    }

    async fn digest(
        &self,
        source: SourceConversation,
    ) -> Result<(ConversationExcerpt, Option<String>)> {
        let title = source.vendor.support().title;
        let excerpt = self.pack(source, digest::DEFAULT_BUDGET).await?;
        let (ports, cwd) = (self.supervisor.ports.clone(), self.origin.session.cwd.clone());
        let known = Arc::clone(&self.known);
        let look = move || Ok(without(&known, ports.machine.folder_state(&cwd)));
        let folder = blocking(look).await?;
        let told = |turn: &&Turn| self.earlier.is_none() && !turn.text.is_empty();
        let input = DigestInput {
            vendor: title,
            task: excerpt.task.as_ref().filter(told),
            turns: &excerpt.turns,
            is_cut: excerpt.is_cut,
            folder: &folder,
            questions: &self.questions(),
        };
        let message = digest::digest(&input, self.budget.unwrap_or(digest::DEFAULT_BUDGET));
        Ok((excerpt, message))
    }

    /// Returns what the old agent waited for.
    fn questions(&self) -> Vec<String> {
        match self.origin.session.status {
            Status::Waiting(reason) => vec![format!("it waited for an answer ({reason})")],
            _ => Vec::new(),
        }
    }

    /// Starts the next agent without a message, because the conversation is empty.
    async fn plainly(&self, mut seat: Seat) -> Result<HandoffReport> {
        let why = Some("there was nothing to carry".to_owned());
        self.begin(&mut seat, &Load::none(HandoffForm::Plain), None, why).await
    }

    /// Starts the next agent with a message. If the agent has an earlier conversation, it continues
    /// there.
    async fn begin(
        &self,
        seat: &mut Seat,
        load: &Load,
        message: Option<String>,
        note: Option<String>,
    ) -> Result<HandoffReport> {
        let outcome = if self.earlier.is_some() {
            self.go_on(seat, load, message).await?
        } else if message.is_none() && seat.session.headless {
            self.record(seat, load).await?;
            return Ok(self.report(seat, load, note));
        } else {
            self.start(seat, load, message).await?
        };
        if outcome.outcome == Outcome::Refused {
            // Stop this session. Otherwise it could be restarted while the old session continues
            // the conversation.
            self.supervisor.end(seat.session.id).await?;
            let address = seat.session.address();
            return Err(Error::vendor(format!("`{address}` did not start"))
                .caused_by(outcome.note.unwrap_or_default())
                .hint(format!("run `segue log {address}` to see why"))
                .hint(format!("run `segue resume {} --stopped` to go on as before", self.from())));
        }
        let note = [note, outcome.note].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let report = self.report(seat, load, Some(note).filter(|note| !note.is_empty()));
        Ok(HandoffReport { dialog: outcome.dialog, ..report })
    }

    /// Starts a new conversation of the next agent. The session, its message and the handoff are
    /// recorded in one commit.
    async fn start(
        &self,
        seat: &mut Seat,
        load: &Load,
        message: Option<String>,
    ) -> Result<AgentOutcome> {
        let unique = self.supervisor.ports.clock.new_id();
        let id = self.target.vendor.launching().preset_id(&seat.session, unique);
        let request = LaunchRequest {
            message,
            creates_session: !seat.is_recorded,
            along: self.along(seat, load),
            ..LaunchRequest::fresh(id, self.environment())
        };
        if !seat.is_recorded {
            self.supervisor.adopt_new(SessionState::new(seat.session.clone()));
            seat.is_recorded = true;
        }
        self.arrive(seat, request).await
    }

    /// Continues the conversation that the next agent already has. The summary is queued like any
    /// other message, so it survives a crash.
    async fn go_on(
        &self,
        seat: &mut Seat,
        load: &Load,
        message: Option<String>,
    ) -> Result<AgentOutcome> {
        let (id, environment) = (seat.session.id, self.environment());
        if let Some(text) = message {
            // The handoff and the message are recorded in one commit.
            let (environment, along) = (environment.clone(), self.along(seat, load));
            let (interrupt, request) = (false, None);
            let outgoing = Outgoing { text, environment, interrupt, request, along };
            let send = |reply| SessionRequest::Send { outgoing, reply };
            self.supervisor.ask(id, send).await?;
        } else {
            self.record(seat, load).await?;
        }
        let (asked, fresh, wish) = (Asked::ByName, None, Wish::now(Wanted::One));
        self.supervisor
            .ask(id, |reply| SessionRequest::Resume { environment, asked, fresh, wish, reply })
            .await
    }

    async fn arrive(&self, seat: &Seat, request: LaunchRequest) -> Result<AgentOutcome> {
        let (launch, wish) = (Box::new(request), Wish::now(Wanted::One));
        let message = |reply| SessionRequest::Arrive { launch, wish, reply };
        self.supervisor.ask(seat.session.id, message).await
    }

    /// Removes a new session after its handoff failed.
    async fn give_up(&self, seat: &Seat) {
        if seat.is_new && seat.is_recorded {
            let (purge, along) = (false, Vec::new());
            let remove = |reply| SessionRequest::Remove { purge, along, reply };
            // The caller gets the error of the handoff, not an error of this removal.
            let _stays = self.supervisor.ask(seat.session.id, remove).await;
        }
    }

    /// Returns a message that asks the agent to continue a turn that was cut off.
    fn nudge(&self) -> Option<String> {
        let title = self.origin.source.as_ref()?.vendor.support().title;
        self.origin.is_cut_off.then(|| {
            format!(
                "This conversation was carried over from {title} in the middle of a turn. Look at \
                 what is already done, then go on."
            )
        })
    }

    fn environment(&self) -> Environment {
        self.target.environment().clone()
    }

    pub(super) fn from(&self) -> String {
        self.origin.session.address()
    }

    fn report(&self, seat: &Seat, load: &Load, note: Option<String>) -> HandoffReport {
        let queued = self.origin.queued;
        let left = (queued > 0).then(|| format!("{queued} messages wait for {}", self.from()));
        let notes: Vec<String> = note.into_iter().chain(left).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        let of = SessionRef::of_draft(&seat.session);
        let of = SessionRef { session: seat.is_recorded.then_some(seat.session.id), ..of };
        HandoffReport {
            from: self.from(),
            to: seat.session.address(),
            of,
            vendor: seat.session.vendor.clone(),
            headless: seat.session.headless,
            mode: load.form.into(),
            turns_carried: load.turns,
            turns_left_out: load.left_out,
            chars: load.characters,
            note,
            dialog: None,
            redacted: load.removed.by_kind(),
            turns: Vec::new(),
            content: None,
        }
    }
}

/// The result of writing a conversation in the target's own format.
enum Native {
    Arrived(Box<HandoffReport>),
    NothingSaid,
    Failed(Error),
}

/// Returns the state of a folder without secret values.
fn without(known: &KnownSecrets, folder: FolderState) -> FolderState {
    let mut redactor = Redactor::new(known.clone());
    let mut clean = |text: String| redactor.redact(&text).into_owned();
    FolderState {
        branch: folder.branch.map(&mut clean),
        commits: folder.commits.into_iter().map(&mut clean).collect(),
        dirty: folder.dirty.into_iter().map(&mut clean).collect(),
        ..folder
    }
}

/// Returns the secret values that must not be carried over: those that the origin knows, and those
/// in the environment of the caller.
fn known(origin: &Origin, target: &Target) -> Arc<KnownSecrets> {
    let mut known = origin.known.clone();
    known.add_environment(target.environment().iter());
    Arc::new(known)
}

fn length(text: Option<&str>) -> u64 {
    text.map_or(0, |text| text.chars().count() as u64)
}

/// Runs work that reads or writes many bytes on a blocking thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::internal("a handoff was cut short").caused_by(error))?
}
