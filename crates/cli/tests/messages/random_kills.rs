//! Many messages to four agents while the daemon, holders and senders are killed at random times.
//! No message is lost, and none is delivered twice.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use segue_testkit::chance::Chance;
use segue_testkit::passing::Passing;
use segue_testkit::{World, is_soak, scene as kit};

use crate::scene::{messages, received, start_agent};
use crate::world;

const AGENTS: usize = 4;
/// At most this many failpoints are passed between two kills.
const MOST_FAILPOINTS: usize = 200;
/// A queue becomes empty within fewer waits than this.
const MOST_WAITS: usize = 20;

/// What a sender knows about its message when its command has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SenderKnowledge {
    /// The command reported that the message is recorded.
    Recorded,
    /// The command or the daemon died before the command reported anything.
    Nothing,
}

#[test]
fn random_kills_of_daemon_holders_and_senders_lose_or_repeat_no_message() {
    let chance = Chance::new();
    let messages_of_each = if is_soak() { 250 } else { 50 };
    let mut world = world();
    let passing = Passing::count(&mut world);
    (0..AGENTS).for_each(|number| start_agent(&world, &name(number)));
    let (began, world) = (Instant::now(), &world);
    let mut storm = Storm::begin();
    let (sent, kills) = std::thread::scope(|threads| {
        let senders: Vec<_> = (0..AGENTS)
            .map(|number| {
                let chance = chance.branch(number as u64);
                threads.spawn(move || send_all(world, number, messages_of_each, chance))
            })
            .collect();
        let mut chance = chance.branch(AGENTS as u64);
        let killer = {
            let (passing, calm) = (&passing, storm.calm.take().unwrap());
            threads.spawn(move || {
                kill_some(world, passing, calm, messages_of_each * AGENTS / 6, &mut chance)
            })
        };
        let sent: BTreeMap<String, SenderKnowledge> =
            senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect();
        storm.end();
        (sent, killer.join().unwrap())
    });
    println!("{} messages, {kills:?} kills, {:?}", sent.len(), began.elapsed());
    check(world, &sent);
}

/// The period in which processes may be killed. It ends with the `cat` process, which ends when its
/// input is closed.
struct Storm {
    input: Option<std::process::ChildStdin>,
    calm: Option<Child>,
}

impl Storm {
    fn begin() -> Self {
        let mut calm = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        Self { input: calm.stdin.take(), calm: Some(calm) }
    }

    fn end(&mut self) {
        self.input = None;
    }
}

fn name(number: usize) -> String {
    format!("agent-{number}")
}

/// Sends messages to one agent, in random ways, until `count` of them are known to be recorded.
/// Returns when the agent is idle and its queue is empty.
fn send_all(
    world: &World,
    number: usize,
    count: usize,
    mut chance: Chance,
) -> Vec<(String, SenderKnowledge)> {
    let to = name(number);
    let mut sent = Vec::new();
    let mut recorded = 0;
    while recorded < count {
        let text = format!("storm {number} {:04}", sent.len());
        let known = send(world, &to, &text, &mut chance);
        recorded += usize::from(known == SenderKnowledge::Recorded);
        sent.push((text, known));
    }
    let wait = || world.segue(["wait", &to, "--for", "idle", "--timeout", "20s"]).status == 0;
    let is_idle = (0..MOST_WAITS).any(|_| wait());
    assert!(is_idle, "{to}: {:#?}", world.session(&to));
    sent
}

fn send(world: &World, to: &str, text: &str, chance: &mut Chance) -> SenderKnowledge {
    let outcome = match chance.below(8) {
        0 => {
            let mut sender = world.start(["send", to, text]);
            sender.kill().unwrap();
            kit::finish(sender)
        }
        1 => world.segue(["send", to, text, "--wait", "--timeout", "5s"]),
        2 | 3 => world.segue(["send", to, text, "--timeout", "200ms"]),
        4 => world.segue(["send", to, text]),
        _ => world.segue(["send", to, text, "--no-wait"]),
    };
    match outcome.status {
        0 => SenderKnowledge::Recorded,
        // The message is not delivered yet, or its turn is not over.
        4 => SenderKnowledge::Recorded,
        // The turn failed, because its agent died.
        6 => SenderKnowledge::Recorded,
        7 | -1 => SenderKnowledge::Nothing,
        _ => panic!("{text}: {outcome:#?}"),
    }
}

/// Kills the daemon or a holder at random times until the storm is over or `most` processes were
/// killed. Returns the number of killed daemons and of killed holders.
fn kill_some(
    world: &World,
    passing: &Passing,
    calm: Child,
    most: usize,
    chance: &mut Chance,
) -> (usize, usize) {
    let mut killed = (0, 0);
    let mut calm = [calm];
    while killed.0 + killed.1 < most && passing.wait(1 + chance.below(MOST_FAILPOINTS), &calm) {
        let subcommand = if chance.below(3) == 0 { "hold" } else { "daemon" };
        let all = kit::pids_running(world, subcommand);
        if all.is_empty() {
            continue;
        }
        kit::kill(all[chance.below(all.len())]);
        if subcommand == "hold" {
            killed.1 += 1;
            // Only this thread kills daemons, so this command's daemon is not killed.
            let resumed = world.segue(["resume", "--all", "--json"]);
            assert_eq!(resumed.status, 0, "{resumed:#?}");
        } else {
            killed.0 += 1;
        }
    }
    calm[0].kill().unwrap();
    calm[0].wait().unwrap();
    killed
}

/// Compares the sent messages with `segue messages` and with the transcripts.
fn check(world: &World, sent: &BTreeMap<String, SenderKnowledge>) {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for text in received(world).into_iter().filter(|text| text.starts_with("storm ")) {
        *times.entry(text).or_default() += 1;
    }
    let recorded: BTreeMap<String, String> = messages(world)
        .iter()
        .map(|it| (kit::text(it, "text").to_owned(), kit::text(it, "state").to_owned()))
        .collect();
    let uncertain = recorded.values().filter(|state| *state == "uncertain").count();
    let unanswered = sent.values().filter(|known| **known == SenderKnowledge::Nothing).count();
    println!("{} recorded, {uncertain} uncertain, {unanswered} unanswered", recorded.len());
    for (text, known) in sent {
        let times = times.get(text).copied().unwrap_or(0);
        let state = recorded.get(text).map(String::as_str);
        let expected = match (known, state) {
            (_, Some("delivered")) => 1,
            (SenderKnowledge::Nothing, None) => 0,
            _ => panic!("{text}: {known:?}, {state:?}, received {times} times"),
        };
        assert_eq!(times, expected, "{text}: {known:?}, {state:?}");
    }
    assert_eq!(recorded.len(), times.len());
    assert_order_of_delivery(world);
    assert!(world.segue(["doctor"]).stdout.starts_with("nothing is wrong\n"));
}

/// Checks that each agent received its messages in the order in which they were sent.
fn assert_order_of_delivery(world: &World) {
    for number in 0..AGENTS {
        let prefix = format!("storm {number} ");
        let all = received(world).into_iter().filter(|text| text.starts_with(&prefix));
        let all: Vec<String> = all.collect();
        assert!(all.is_sorted(), "{all:#?}");
    }
}
