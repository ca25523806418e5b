//! Special messages: commands that control the agent or make it misbehave.

use std::time::Duration;

pub(super) const HELP: &str = "\
/help               this list
/crash [STATUS]     crashes, with this exit status or by a signal
/fail               fails the turn (headless: the exit status is still 0)
/limit TIME         fails the turn, because a usage limit is reached until then
/hang               stops answering
/slow SECONDS       answers one word at a time
/ask                asks for permission
/question           asks the user a question
/tool SECONDS       runs a tool and waits for it
/repeat TIMES       repeats a tool call with the same result, and then hangs
/daemonize SECONDS  runs a tool in its own process session, where it outlives the agent
/fill LINES         fills the screen with colours, wide characters and emoji
/alt                alternate screen on or off
/mouse              mouse reports on or off
/title TEXT         sets the terminal's title
/bell               rings the bell
/clear              begins a new conversation, with a new id, in the same process
/fork               continues in a copy of this conversation, with a new id
/stray              does nothing
/deaf               stops reading the terminal
/exit               exits";

/// The request in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DemoCommand {
    /// A turn of the conversation: recorded and answered.
    Turn(Work),
    /// A command for the program, which is not recorded in the conversation.
    Local(LocalCommand),
}

/// The action of the agent in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Answer,
    /// Reads the prompt from this file. Segue sends a prompt in a file if it is too long for a
    /// command line.
    Read(String),
    /// Crashes with this exit code, or by a signal if it is `None`.
    Crash(Option<u8>),
    Fail,
    /// Fails the turn, because a usage limit is reached until this time.
    Limit(String),
    Hang,
    Slow(Duration),
    Ask,
    Question,
    Tool(Duration),
    Daemonize(Duration),
    /// Repeats a tool call this often, and then hangs.
    Repeat(u32),
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
    /// A command with an invalid argument, and the message about it.
    InvalidArgument(String),
}

/// Parses a message. A message that is not a known command becomes `Work::Answer`.
pub(super) fn parse(message: &str) -> DemoCommand {
    let message = message.trim();
    let (name, argument) = message.split_once(char::is_whitespace).unwrap_or((message, ""));
    let argument = argument.trim();
    file_to_read(message)
        .map(|file| Work::Read(file.to_owned()))
        .or_else(|| parse_turn(name, argument))
        .map(DemoCommand::Turn)
        .or_else(|| parse_local(name, argument).map(DemoCommand::Local))
        .unwrap_or(DemoCommand::Turn(Work::Answer))
}

/// Returns the path of the file that the message tells the agent to read.
pub(super) fn file_to_read(message: &str) -> Option<&str> {
    message.trim().strip_prefix("Read the file ")?.strip_suffix(" and do what it says.")
}

fn parse_turn(name: &str, argument: &str) -> Option<Work> {
    Some(match name {
        "/crash" if argument.is_empty() => Work::Crash(None),
        "/crash" => Work::Crash(Some(argument.parse().ok()?)),
        "/fail" => Work::Fail,
        "/limit" => Work::Limit(argument.to_owned()),
        "/hang" => Work::Hang,
        "/slow" => Work::Slow(parse_seconds(argument)?),
        "/ask" => Work::Ask,
        "/question" => Work::Question,
        "/tool" => Work::Tool(parse_seconds(argument)?),
        "/daemonize" => Work::Daemonize(parse_seconds(argument)?),
        "/repeat" => Work::Repeat(argument.parse().ok()?),
        _ => return None,
    })
}

fn parse_local(name: &str, argument: &str) -> Option<LocalCommand> {
    Some(match name {
        "/help" => LocalCommand::Help,
        "/fill" => argument.parse().map_or_else(|_| invalid_argument(name), LocalCommand::Fill),
        "/alt" => LocalCommand::Alternate,
        "/mouse" => LocalCommand::Mouse,
        "/title" => LocalCommand::Title(argument.to_owned()),
        "/bell" => LocalCommand::Bell,
        "/clear" => LocalCommand::Clear,
        "/fork" => LocalCommand::Fork,
        "/stray" => LocalCommand::Stray,
        "/deaf" => LocalCommand::Deaf,
        "/exit" => LocalCommand::Exit,
        "/crash" | "/slow" | "/tool" | "/daemonize" | "/repeat" => invalid_argument(name),
        _ => return None,
    })
}

fn invalid_argument(name: &str) -> LocalCommand {
    LocalCommand::InvalidArgument(format!("{name} needs a valid number, see /help"))
}

fn parse_seconds(argument: &str) -> Option<Duration> {
    const MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);
    let time = Duration::try_from_secs_f64(argument.parse().ok()?).ok()?;
    (time <= MAX).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_in_the_help_is_parsed() {
        for line in HELP.lines() {
            let name = line.split_whitespace().next().unwrap();
            let command = parse(&format!("{name} 3"));
            assert_ne!(command, DemoCommand::Turn(Work::Answer), "{name}");
        }
    }

    #[test]
    fn command_with_an_invalid_argument_is_refused() {
        let second = Duration::from_secs(1);
        assert_eq!(parse("/slow 1"), DemoCommand::Turn(Work::Slow(second)));
        assert_eq!(parse(" /tool\t0.5 "), DemoCommand::Turn(Work::Tool(second / 2)));
        assert_eq!(parse("/crash"), DemoCommand::Turn(Work::Crash(None)));
        assert_eq!(parse("/crash 3"), DemoCommand::Turn(Work::Crash(Some(3))));
        for bad in ["/crash 300", "/slow", "/slow -1", "/slow nan", "/tool 1e99", "/fill x"] {
            assert!(
                matches!(parse(bad), DemoCommand::Local(LocalCommand::InvalidArgument(_))),
                "{bad}"
            );
        }
    }

    #[test]
    fn request_to_read_a_file_accepts_spaces_in_its_path() {
        let found = parse("Read the file /a b/c and do what it says.");
        assert_eq!(found, DemoCommand::Turn(Work::Read("/a b/c".into())));
        assert_eq!(parse("Read the file /a"), DemoCommand::Turn(Work::Answer));
    }

    #[test]
    fn text_that_resembles_a_command_is_an_ordinary_message() {
        for text in ["/home/user/file", "/", "hello /crash", "-x", "/crashed"] {
            assert_eq!(parse(text), DemoCommand::Turn(Work::Answer), "{text}");
        }
    }
}
