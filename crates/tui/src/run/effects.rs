//! Carries out effects. Each runs in a task of its own, and its result is a message.

use std::sync::Arc;

use segue_core::model::SessionId;
use segue_core::{Error, Result};
use tokio::sync::mpsc::{Sender, UnboundedSender};
use tokio::task::JoinHandle;

use super::LoopEvent;
use super::flights::{FlightKind, Flights};
use crate::api::{DaemonApi, DiffQuestion};
use crate::update::{
    DetailMessage, UiEffect, UiMessage, adopted, changed_worktree, handed_over, interrupted,
    restored, scaled, stopped,
};

/// Starts effects.
pub(super) struct EffectRunner {
    api: Arc<dyn DaemonApi>,
    sender: UnboundedSender<LoopEvent>,
    output: Sender<UiMessage>,
    flights: Flights,
    watching: Option<JoinHandle<()>>,
}

impl EffectRunner {
    pub(super) fn new(
        api: Arc<dyn DaemonApi>,
        sender: UnboundedSender<LoopEvent>,
        output: Sender<UiMessage>,
    ) -> Self {
        Self { api, sender, output, flights: Flights::default(), watching: None }
    }

    pub(super) fn start(&mut self, effect: UiEffect) {
        match effect {
            UiEffect::Watch { request, session } => self.watch(request, session),
            UiEffect::StopWatching => self.stop_watching(),
            effect => self.ask(effect),
        }
    }

    /// Starts an effect while something else has the terminal: no terminal is watched then.
    pub(super) fn start_if_quiet(&mut self, effect: UiEffect) {
        if !matches!(effect, UiEffect::Watch { .. }) {
            self.start(effect);
        }
    }

    /// Starts the request that follows one that has ended.
    pub(super) fn landed(&mut self, kind: Option<FlightKind>) {
        if let Some(next) = kind.and_then(|kind| self.flights.end(kind)) {
            self.start(next);
        }
    }

    pub(super) fn stop_watching(&mut self) {
        if let Some(task) = self.watching.take() {
            task.abort();
        }
    }

    fn ask(&mut self, effect: UiEffect) {
        let kind = FlightKind::of(&effect);
        if kind.is_some_and(|kind| !self.flights.begin(kind, &effect)) {
            return;
        }
        let (api, sender) = (Arc::clone(&self.api), self.sender.clone());
        let task = tokio::spawn(async move {
            let landing = Landing { sender, kind };
            let message = carried_out(api.as_ref(), effect).await;
            if let Some(message) = message {
                // Without a receiver, the loop has ended.
                let _ended = landing.sender.send(LoopEvent::Message(Box::new(message)));
            }
        });
        if let Some(kind) = kind {
            self.flights.set_task(kind, task);
        }
    }

    /// Shows a session's terminal. A loop that is slow makes the holder drop output.
    fn watch(&mut self, request: u64, session: SessionId) {
        self.stop_watching();
        let (api, output) = (Arc::clone(&self.api), self.output.clone());
        let landing = Landing { sender: self.sender.clone(), kind: None };
        self.watching = Some(tokio::spawn(async move {
            let _landing = landing;
            let detail = |message| UiMessage::Detail(request, message);
            let mut stream = match api.terminal(session).await {
                Ok(stream) => stream,
                Err(error) => {
                    let gone = detail(DetailMessage::TerminalGone(Some(error)));
                    let _ended = output.send(gone).await;
                    return;
                }
            };
            while let Some(event) = stream.next().await {
                if output.send(detail(DetailMessage::Terminal(event))).await.is_err() {
                    return;
                }
            }
            let _ended = output.send(detail(DetailMessage::TerminalGone(None))).await;
        }));
    }
}

/// Wakes the loop when a task ends, also by a panic: the loop then ends the UI.
struct Landing {
    sender: UnboundedSender<LoopEvent>,
    kind: Option<FlightKind>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        // Without a receiver, the loop has ended.
        let _ended = self.sender.send(LoopEvent::Landed(self.kind));
    }
}

impl Drop for EffectRunner {
    fn drop(&mut self) {
        self.stop_watching();
    }
}

/// Carries out an effect. `None` if it has no result.
async fn carried_out(api: &dyn DaemonApi, effect: UiEffect) -> Option<UiMessage> {
    Some(match effect {
        UiEffect::LoadTalk { .. }
        | UiEffect::LoadMessages { .. }
        | UiEffect::LoadLog { .. }
        | UiEffect::LoadDiff { .. } => read_detail(api, effect).await?,
        UiEffect::Plan(sessions) => {
            let plan = api.plan(sessions.clone()).await;
            UiMessage::Planned(sessions, plan)
        }
        UiEffect::Preview(order) => {
            let report = api.hand_over(order.clone(), true).await;
            UiMessage::Previewed(order, report)
        }
        UiEffect::Start(new) => UiMessage::Started(api.start(new).await),
        UiEffect::StartDemo => UiMessage::Started(api.start_demo().await),
        effect => match read_list(api, &effect).await {
            Some(message) => message,
            None if matches!(effect, UiEffect::Send { is_review: true, .. }) => {
                UiMessage::Reviewed(changed(api, effect).await?)
            }
            None => UiMessage::Done(changed(api, effect).await?),
        },
    })
}

/// Reads data for the lists and the first row. `None` if the effect is another one.
async fn read_list(api: &dyn DaemonApi, effect: &UiEffect) -> Option<UiMessage> {
    Some(match effect {
        UiEffect::LoadSessions => UiMessage::Sessions(api.sessions().await),
        UiEffect::LoadTasks { with_ended } => UiMessage::Tasks(api.tasks(*with_ended).await),
        UiEffect::LoadTask(task) => UiMessage::Task(api.task(task.clone()).await),
        UiEffect::LoadWorktrees => UiMessage::Worktrees(api.worktrees().await),
        UiEffect::LoadGates => UiMessage::Gates(api.gates().await),
        UiEffect::LoadAgents => UiMessage::Agents(api.agents().await),
        UiEffect::LoadUsage => UiMessage::Usage(api.usage_today().await),
        UiEffect::LoadVendors => UiMessage::Vendors(api.vendors().await),
        UiEffect::LoadAdoptable { is_asked } => {
            UiMessage::Adoptable { is_asked: *is_asked, report: api.adoptable().await }
        }
        _ => return None,
    })
}

/// Reads data for the right side.
async fn read_detail(api: &dyn DaemonApi, effect: UiEffect) -> Option<UiMessage> {
    let (request, message) = match effect {
        UiEffect::LoadTalk { request, session, before } => {
            let is_earlier = before.is_some();
            let page = api.talk(session, before).await;
            (request, DetailMessage::Talk { is_earlier, page })
        }
        UiEffect::LoadMessages { request, session } => {
            (request, DetailMessage::Messages(api.messages(session).await))
        }
        UiEffect::LoadLog { request, session } => {
            (request, DetailMessage::Log(api.log(session).await))
        }
        UiEffect::LoadDiff { request, name } => {
            (request, DetailMessage::Diff(api.diff(DiffQuestion { name }).await))
        }
        _ => return None,
    };
    Some(UiMessage::Detail(request, message))
}

/// Carries out an effect on sessions whose result is a sentence.
async fn changed(api: &dyn DaemonApi, effect: UiEffect) -> Option<Result<String>> {
    Some(match effect {
        UiEffect::Send { sessions, text, interrupts, .. } => {
            send(api, sessions, &text, interrupts).await
        }
        UiEffect::Interrupt(session) => api.interrupt(session).await.map(|it| interrupted(&it)),
        UiEffect::Rename { session, name } => {
            let renamed = api.rename(session, name).await;
            renamed.map(|it| format!("{} is called {} now", it.renamed_from, it.session.address))
        }
        UiEffect::Answer { session, question, answer } => {
            let answered = api.answer(session, question, answer.clone()).await;
            answered.map(|()| format!("answered {answer}"))
        }
        UiEffect::Stop(sessions) => api.stop(sessions).await.map(|it| stopped(&it)),
        UiEffect::StopAfterTurn(session) => {
            api.stop_after_turn(session).await.map(|it| stopped(&it))
        }
        UiEffect::Resume(sessions) => api.resume(sessions).await.map(|it| restored(&it)),
        UiEffect::HandOver(order) => api.hand_over(order, false).await.map(|it| handed_over(&it)),
        UiEffect::Scale { session, agent, count } => {
            api.scale(session, agent, count).await.map(|it| scaled(&it))
        }
        UiEffect::Adopt { vendor, id } => api.adopt(vendor, id).await.map(|it| adopted(&it)),
        other => return changed_work(api, other).await,
    })
}

/// Carries out an effect on tasks or worktrees whose result is a sentence.
async fn changed_work(api: &dyn DaemonApi, effect: UiEffect) -> Option<Result<String>> {
    Some(match effect {
        UiEffect::AddTask(new) => {
            let added = api.add_task(new).await;
            added.map(|it| {
                format!("added task {} for {}: t lists the tasks", it.task.id, it.task.agent)
            })
        }
        UiEffect::ApproveGate(plan, task) => {
            let approved = api.approve_gate(plan, task.clone()).await;
            approved.map(|()| format!("approved {task}"))
        }
        UiEffect::CancelTask(task) => api
            .cancel_task(task)
            .await
            .map(|it| format!("task {} is {}", it.task.id, it.task.state)),
        UiEffect::RetryTask(task) => {
            api.retry_task(task).await.map(|it| format!("task {} is {}", it.task.id, it.task.state))
        }
        UiEffect::ChangeWorktree { action, worktree } => {
            let report = api.change_worktree(action.action(), worktree).await;
            report.map(|it| changed_worktree(&it))
        }
        // The loop itself carries out the others.
        _ => return None,
    })
}

/// Sends a message to each session. The first failure is reported.
async fn send(
    api: &dyn DaemonApi,
    sessions: Vec<SessionId>,
    text: &str,
    interrupts: bool,
) -> Result<String> {
    let count = sessions.len();
    let mut failed: Option<Error> = None;
    for session in sessions {
        if let Err(error) = api.send(session, text.to_owned(), interrupts).await {
            failed.get_or_insert(error);
        }
    }
    match (failed, count) {
        (Some(error), _) => Err(error),
        (None, 1) => Ok("the message is recorded: it is typed when the agent is ready".to_owned()),
        (None, count) => Ok(format!("the message is recorded for {count} agents")),
    }
}
