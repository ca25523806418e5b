//! Messages that make the agent misbehave in one of the known ways.

use std::time::Duration;

pub(super) const HELP: &str = "\
/help               this list
/crash [STATUS]     dies, with an exit status or as if by a bad access to memory
/fail               a turn that fails (headless: exit status 0 all the same)
/hang               stops answering
/slow SECONDS       answers one word at a time
/ask                asks for permission
/question           asks its user something
/tool SECONDS       runs a tool and waits for it
/daemonize SECONDS  runs a tool in a process session of its own, which outlives the agent
/fill LINES         fills the screen with colours, wide characters and emoji
/alt                alternate screen on or off
/mouse              mouse reports on or off
/title TEXT         sets the terminal's title
/bell               rings
/clear              begins a new conversation, with a new id, in the same process
/fork               goes on in a copy of this conversation, with a new id
/stray              does nothing
/deaf               reads nothing that is typed from then on
/exit               leaves";

/// What a message requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DemoCommand {
    /// A turn of the conversation: recorded and answered.
    Turn(Work),
    /// A command for the program, which is not recorded in the conversation.
    Local(LocalCommand),
}

/// What the agent does in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Say,
    /// Does what a file says. A prompt that is too long for a command line arrives in this way.
    Read(String),
    /// Crashes with this exit code. `None`: crashes by a signal.
    Crash(Option<u8>),
    Fail,
    Hang,
    Slow(Duration),
    Ask,
    Question,
    Tool(Duration),
    Daemonize(Duration),
}

/// A command for the program itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LocalCommand {
    Help,
    Fill(u32),
    Alternate,
    Mouse,
    Title(String),
    Bell,
    Clear,
    Fork,
    Stray,
    Deaf,
    Exit,
    /// A command with an invalid argument.
    Unusable(String),
}

/// Parses a message. A message that is no known command becomes `Work::Say`.
pub(super) fn parse(message: &str) -> DemoCommand {
    let message = message.trim();
    let (name, argument) = message.split_once(char::is_whitespace).unwrap_or((message, ""));
    let argument = argument.trim();
    file_in(message)
        .map(|file| Work::Read(file.to_owned()))
        .or_else(|| turn(name, argument))
        .map(DemoCommand::Turn)
        .or_else(|| local(name, argument).map(DemoCommand::Local))
        .unwrap_or(DemoCommand::Turn(Work::Say))
}

/// Returns the path of the file that a message says to read.
pub(super) fn file_in(message: &str) -> Option<&str> {
    message.trim().strip_prefix("Read the file ")?.strip_suffix(" and do what it says.")
}

fn turn(name: &str, argument: &str) -> Option<Work> {
    Some(match name {
        "/crash" if argument.is_empty() => Work::Crash(None),
        "/crash" => Work::Crash(Some(argument.parse().ok()?)),
        "/fail" => Work::Fail,
        "/hang" => Work::Hang,
        "/slow" => Work::Slow(seconds(argument)?),
        "/ask" => Work::Ask,
        "/question" => Work::Question,
        "/tool" => Work::Tool(seconds(argument)?),
        "/daemonize" => Work::Daemonize(seconds(argument)?),
        _ => return None,
    })
}

fn local(name: &str, argument: &str) -> Option<LocalCommand> {
    Some(match name {
        "/help" => LocalCommand::Help,
        "/fill" => argument.parse().map_or_else(|_| unusable(name), LocalCommand::Fill),
        "/alt" => LocalCommand::Alternate,
        "/mouse" => LocalCommand::Mouse,
        "/title" => LocalCommand::Title(argument.to_owned()),
        "/bell" => LocalCommand::Bell,
        "/clear" => LocalCommand::Clear,
        "/fork" => LocalCommand::Fork,
        "/stray" => LocalCommand::Stray,
        "/deaf" => LocalCommand::Deaf,
        "/exit" => LocalCommand::Exit,
        "/crash" | "/slow" | "/tool" | "/daemonize" => unusable(name),
        _ => return None,
    })
}

fn unusable(name: &str) -> LocalCommand {
    LocalCommand::Unusable(format!("{name} needs a number; /help shows how"))
}

fn seconds(argument: &str) -> Option<Duration> {
    const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);
    let time = Duration::try_from_secs_f64(argument.parse().ok()?).ok()?;
    (time <= LONGEST).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_help_is_known() {
        for line in HELP.lines() {
            let name = line.split_whitespace().next().unwrap();
            let command = parse(&format!("{name} 3"));
            assert_ne!(command, DemoCommand::Turn(Work::Say), "{name}");
        }
    }

    #[test]
    fn arguments_are_read_and_bad_ones_refused() {
        let second = Duration::from_secs(1);
        assert_eq!(parse("/slow 1"), DemoCommand::Turn(Work::Slow(second)));
        assert_eq!(parse(" /tool\t0.5 "), DemoCommand::Turn(Work::Tool(second / 2)));
        assert_eq!(parse("/crash"), DemoCommand::Turn(Work::Crash(None)));
        assert_eq!(parse("/crash 3"), DemoCommand::Turn(Work::Crash(Some(3))));
        for bad in ["/crash 300", "/slow", "/slow -1", "/slow nan", "/tool 1e99", "/fill x"] {
            assert!(matches!(parse(bad), DemoCommand::Local(LocalCommand::Unusable(_))), "{bad}");
        }
    }

    #[test]
    fn request_to_read_a_file_accepts_spaces_in_its_path() {
        let found = parse("Read the file /a b/c and do what it says.");
        assert_eq!(found, DemoCommand::Turn(Work::Read("/a b/c".into())));
        assert_eq!(parse("Read the file /a"), DemoCommand::Turn(Work::Say));
    }

    #[test]
    fn text_that_only_looks_like_a_command_is_a_plain_message() {
        for text in ["/home/user/file", "/", "hello /crash", "-x", "/crashed"] {
            assert_eq!(parse(text), DemoCommand::Turn(Work::Say), "{text}");
        }
    }
}
