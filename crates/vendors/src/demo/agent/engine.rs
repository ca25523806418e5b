//! The state machine of the agent: converts events to effects. It accesses neither files nor
//! processes.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use segue_core::model::Permission;

use super::super::paths::LIMIT_MESSAGE;
use super::super::records::LiveStatus;
use super::arguments::AsksBy;
use super::command::{self, DemoCommand, HELP, LocalCommand, Work};
use super::effect::{DemoDialog, DemoEffect, DemoEvent, LineAuthor, Placement, Show};
use super::memory::Memory;

/// The state machine of the agent.
#[derive(Debug)]
pub(super) struct Engine {
    memory: Memory,
    permission: Permission,
    asks_by: AsksBy,
    phase: Phase,
    /// Messages that arrived while the agent was busy.
    queued_messages: VecDeque<String>,
    effects: Vec<DemoEffect>,
}

#[derive(Debug)]
enum Phase {
    Resting,
    Streaming { words: VecDeque<String>, streamed: String, pause: Duration },
    Hanging,
    Asking(PendingQuestion),
    RunningTool(Placement),
    Reading,
}

#[derive(Clone, Copy, Debug)]
enum PendingQuestion {
    Trust,
    Permission,
    Question,
}

const COLOURS: &[&str] = &["red", "green", "blue"];

impl Engine {
    pub(super) fn new(memory: Memory, permission: Permission, asks_by: AsksBy) -> Self {
        let (queued_messages, effects) = (VecDeque::new(), Vec::new());
        Self { memory, permission, asks_by, phase: Phase::Resting, queued_messages, effects }
    }

    /// Handles an event. Returns the effects to carry out, in order.
    pub(super) fn handle(&mut self, event: DemoEvent) -> Vec<DemoEffect> {
        match event {
            DemoEvent::Begin { is_trusted, prompt } => self.begin(is_trusted, prompt),
            DemoEvent::Message(text) => self.queued_messages.push_back(text),
            DemoEvent::Choice(choice) => self.answer_question(choice),
            DemoEvent::Interrupt => self.interrupt(),
            DemoEvent::Tick => self.stream(),
            DemoEvent::ToolStarted(pid) => self.tool_started(pid),
            DemoEvent::ToolFailed(reason) => self.finish_tool(&format!("failed: {reason}")),
            DemoEvent::ToolEnded => self.finish_tool("done"),
            DemoEvent::FileRead(read) => self.file_read(read),
        }
        while self.is_resting() {
            let Some(text) = self.queued_messages.pop_front() else { break };
            self.handle_message(&text);
        }
        mem::take(&mut self.effects)
    }

    /// Returns whether no turn is running and no question is open.
    pub(super) fn is_resting(&self) -> bool {
        matches!(self.phase, Phase::Resting)
    }

    /// Returns the open question.
    pub(super) fn dialog(&self) -> Option<DemoDialog> {
        let Phase::Asking(question) = self.phase else { return None };
        Some(match question {
            PendingQuestion::Trust => {
                DemoDialog { question: "Do you trust this folder?", choices: &["yes", "no, exit"] }
            }
            PendingQuestion::Permission => {
                DemoDialog { question: "Allow?", choices: &["yes", "no"] }
            }
            PendingQuestion::Question => DemoDialog { question: "Which colour?", choices: COLOURS },
        })
    }

    fn emit(&mut self, effect: DemoEffect) {
        self.effects.push(effect);
    }

    fn begin(&mut self, is_trusted: bool, prompt: Option<String>) {
        self.queued_messages.extend(prompt);
        if is_trusted {
            return self.become_idle();
        }
        self.ask(PendingQuestion::Trust, LiveStatus::WaitingTrust);
    }

    fn become_idle(&mut self) {
        self.phase = Phase::Resting;
        if self.queued_messages.is_empty() {
            self.emit(DemoEffect::Status(LiveStatus::Idle));
        }
    }

    fn handle_message(&mut self, text: &str) {
        if text.trim().is_empty() {
            return self.finish_local(String::new());
        }
        match command::parse(text) {
            DemoCommand::Local(local) => self.run_local_command(local),
            DemoCommand::Turn(work) => {
                // If the previous turn was interrupted before it read its file, an ordinary message
                // makes the agent read that file first.
                let unread_file = self.memory.unread_file().filter(|_| work == Work::Answer);
                let work = unread_file.map_or(work, |file| Work::Read(file.to_owned()));
                self.memory.record_message(text);
                self.emit(DemoEffect::Record(LineAuthor::User, text.to_owned()));
                self.emit(DemoEffect::Status(LiveStatus::Working));
                self.do_work(work, text);
            }
        }
    }

    fn do_work(&mut self, work: Work, text: &str) {
        match work {
            Work::Answer => self.finish(true, self.memory.answer(text)),
            Work::Read(path) => self.begin_reading(path),
            Work::Fail => self.finish(false, "This turn failed, as it was told to.".to_owned()),
            Work::Limit(until) => self.finish(false, format!("{LIMIT_MESSAGE}{until}")),
            Work::Crash(status) => self.emit(DemoEffect::Crash(status)),
            Work::Hang => self.phase = Phase::Hanging,
            Work::Slow(duration) => self.start_stream(duration),
            Work::Ask => self.request_permission(),
            Work::Question => self.ask_question(),
            Work::Tool(duration) => self.start_tool(duration, Placement::Foreground),
            Work::Daemonize(duration) => self.start_tool(duration, Placement::OwnSession),
            Work::Repeat(times) => self.repeat_call(times),
        }
    }

    fn finish(&mut self, ok: bool, text: String) {
        self.memory.end_turn();
        self.emit(DemoEffect::Record(LineAuthor::Assistant, text.clone()));
        self.emit(DemoEffect::EndTurn);
        self.emit(DemoEffect::Finished { ok, text });
        self.become_idle();
    }

    fn run_local_command(&mut self, local: LocalCommand) {
        match local {
            LocalCommand::Help => return self.finish_local(HELP.to_owned()),
            LocalCommand::InvalidArgument(reason) => return self.finish_local(reason),
            LocalCommand::Clear => {
                self.memory = Memory::default();
                self.emit(DemoEffect::Clear);
            }
            LocalCommand::Fork => self.emit(DemoEffect::Fork),
            LocalCommand::Exit => return self.emit(DemoEffect::Exit(0)),
            LocalCommand::Stray => {}
            LocalCommand::Deaf => {
                self.emit(DemoEffect::Notice("it reads nothing any more".to_owned()));
                self.emit(DemoEffect::Deaf);
            }
            LocalCommand::Fill(lines) => self.emit(DemoEffect::Show(Show::Fill(lines))),
            LocalCommand::Alternate => self.emit(DemoEffect::Show(Show::Alternate)),
            LocalCommand::Mouse => self.emit(DemoEffect::Show(Show::Mouse)),
            LocalCommand::Title(title) => self.emit(DemoEffect::Show(Show::Title(title))),
            LocalCommand::Bell => self.emit(DemoEffect::Show(Show::Bell)),
        }
        self.finish_local(String::new());
    }

    fn finish_local(&mut self, text: String) {
        if !text.is_empty() {
            self.emit(DemoEffect::Notice(text.clone()));
        }
        self.emit(DemoEffect::Finished { ok: true, text });
        self.become_idle();
    }

    /// Records the same tool call and the same result again and again.
    fn repeat_call(&mut self, times: u32) {
        for _ in 0..times {
            self.emit(DemoEffect::Record(LineAuthor::ToolCall, "list the files".to_owned()));
            self.emit(DemoEffect::Record(LineAuthor::ToolResult, "no files".to_owned()));
        }
        self.phase = Phase::Hanging;
    }

    fn begin_reading(&mut self, path: String) {
        self.emit(DemoEffect::Record(LineAuthor::ToolCall, format!("read {path}")));
        self.phase = Phase::Reading;
        self.emit(DemoEffect::Read(path));
    }

    fn file_read(&mut self, read: Result<String, String>) {
        if !matches!(self.phase, Phase::Reading) {
            return;
        }
        let (ok, result, answer) = match read {
            Ok(text) => {
                self.memory.record_file(&text);
                let answer = self.memory.answer(&text);
                (true, text, answer)
            }
            Err(reason) => (false, reason, "I could not read the file.".to_owned()),
        };
        self.emit(DemoEffect::Record(LineAuthor::ToolResult, result));
        self.finish(ok, answer);
    }

    fn start_stream(&mut self, duration: Duration) {
        let answer = format!("Slowly but surely: {}", self.memory.answer(""));
        let words: VecDeque<String> = answer.split(' ').map(str::to_owned).collect();
        let pause = duration / u32::try_from(words.len()).unwrap_or(1);
        self.phase = Phase::Streaming { words, streamed: String::new(), pause };
        self.emit(DemoEffect::Wake(pause));
    }

    fn stream(&mut self) {
        let Phase::Streaming { words, streamed, pause } = &mut self.phase else { return };
        if let Some(word) = words.pop_front() {
            if !streamed.is_empty() {
                streamed.push(' ');
            }
            streamed.push_str(&word);
        }
        let (streamed, pause, is_complete) = (streamed.clone(), *pause, words.is_empty());
        if is_complete {
            return self.finish(true, streamed);
        }
        self.emit(DemoEffect::Streamed(streamed));
        self.emit(DemoEffect::Wake(pause));
    }

    fn request_permission(&mut self) {
        self.emit(DemoEffect::Record(LineAuthor::ToolCall, "edit notes.txt".to_owned()));
        match (self.permission, self.asks_by) {
            (Permission::Auto, _) => self.finish_permission("allowed without asking", true),
            (_, AsksBy::Nothing) => {
                self.finish_permission("denied: there is no person to ask", false);
            }
            (_, AsksBy::Terminal | AsksBy::Command) => {
                self.ask(PendingQuestion::Permission, LiveStatus::WaitingPermission);
            }
        }
    }

    fn finish_permission(&mut self, result: &str, allowed: bool) {
        self.emit(DemoEffect::Record(LineAuthor::ToolResult, result.to_owned()));
        let answer = if allowed { "I edited notes.txt." } else { "I left notes.txt as it was." };
        self.finish(true, answer.to_owned());
    }

    fn ask_question(&mut self) {
        self.emit(DemoEffect::Record(LineAuthor::ToolCall, "ask for a colour".to_owned()));
        match self.asks_by {
            AsksBy::Terminal | AsksBy::Command => {
                self.ask(PendingQuestion::Question, LiveStatus::WaitingQuestion);
            }
            AsksBy::Nothing => self.finish_question(None),
        }
    }

    fn finish_question(&mut self, choice: Option<usize>) {
        let colour = choice.and_then(|index| COLOURS.get(index)).copied();
        let result = colour.unwrap_or("no answer");
        self.emit(DemoEffect::Record(LineAuthor::ToolResult, result.to_owned()));
        let answer =
            colour.map_or("You chose no colour.".to_owned(), |c| format!("You chose {c}."));
        self.finish(true, answer);
    }

    fn ask(&mut self, question: PendingQuestion, status: LiveStatus) {
        self.phase = Phase::Asking(question);
        match self.dialog().filter(|_| self.asks_by == AsksBy::Command) {
            Some(dialog) => self.emit(DemoEffect::Ask(dialog)),
            None => self.emit(DemoEffect::Status(status)),
        }
    }

    fn answer_question(&mut self, choice: Option<usize>) {
        let Phase::Asking(question) = self.phase else { return };
        let is_yes = choice == Some(0);
        match question {
            PendingQuestion::Trust if is_yes => {
                self.emit(DemoEffect::Trust);
                self.become_idle();
            }
            PendingQuestion::Trust => self.emit(DemoEffect::Exit(1)),
            PendingQuestion::Permission => {
                self.emit(DemoEffect::Status(LiveStatus::Working));
                self.finish_permission(if is_yes { "allowed" } else { "denied" }, is_yes);
            }
            PendingQuestion::Question => {
                self.emit(DemoEffect::Status(LiveStatus::Working));
                self.finish_question(choice);
            }
        }
    }

    fn interrupt(&mut self) {
        match self.phase {
            Phase::Resting => return,
            Phase::Asking(_) => return self.answer_question(None),
            Phase::RunningTool(_) => self.emit(DemoEffect::StopTool),
            Phase::Streaming { .. } | Phase::Hanging | Phase::Reading => {}
        }
        self.finish(false, "[interrupted]".to_owned());
    }

    fn start_tool(&mut self, duration: Duration, placement: Placement) {
        self.emit(DemoEffect::Record(
            LineAuthor::ToolCall,
            format!("sleep {}", duration.as_secs_f64()),
        ));
        self.phase = Phase::RunningTool(placement);
        self.emit(DemoEffect::StartTool { duration, placement });
    }

    fn tool_started(&mut self, pid: u32) {
        if matches!(self.phase, Phase::RunningTool(Placement::OwnSession)) {
            self.finish_tool(&format!("runs on its own as process {pid}"));
        }
    }

    fn finish_tool(&mut self, result: &str) {
        if matches!(self.phase, Phase::RunningTool(_)) {
            self.emit(DemoEffect::Record(LineAuthor::ToolResult, result.to_owned()));
            self.finish(true, format!("The tool: {result}."));
        }
    }
}

#[cfg(test)]
mod tests;
