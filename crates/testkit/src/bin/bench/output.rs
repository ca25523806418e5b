//! Measures the throughput of an agent's output in a holder without attached clients. The baseline
//! is a pseudo-terminal without a holder.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use segue_core::model::{Environment, LaunchId, LaunchRecord, TerminalSize};
use segue_core::ports::{HolderEvent, Holders as _, LaunchRecords as _, StartOrder};
use segue_host::Paths;
use segue_host::folders::DiskFolders;
use segue_host::hold::LocalHolders;
use segue_testkit::World;
use segue_testkit::contract::store::Samples;
use segue_testkit::runtime::block_on;

use crate::bare::Bare;
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed};

const ROUNDS: usize = 3;
const AIM: Aim = Aim::Times(0.5);

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    let plain = file(&world, "plain", 100_000_000, plain_line);
    let drawn = file(&world, "drawn", 50_000_000, drawn_line);
    vec![
        row(&world, program, "100 MB of lines through a holder", &plain),
        row(&world, program, "50 MB of colours and cursor moves through a holder", &drawn),
    ]
}

fn row(world: &World, program: &Path, name: &str, file: &Path) -> Row {
    let size = file.metadata().expect("a file").len();
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(through_bare_terminal(file));
        ours.push(through_holder(world, program, file));
    }
    Row::new(name, rate(size, median(ours))).against(rate(size, median(bare))).aim(AIM)
}

#[expect(clippy::cast_precision_loss, reason = "only the first three digits of a rate matter")]
fn rate(size: u64, time: Duration) -> Figure {
    Figure::Rate(size as f64 / time.as_secs_f64())
}

fn through_bare_terminal(file: &Path) -> Duration {
    let (time, count) = timed(|| Bare::start(Command::new("/bin/cat").arg(file)).wait());
    assert!(count >= file.metadata().expect("a file").len(), "some output was lost");
    time
}

/// Measures the time from the start of the holder to its event that the agent has ended. The holder
/// sends this event after it has read all output.
fn through_holder(world: &World, program: &Path, file: &Path) -> Duration {
    let environment = Environment::new(world.environment());
    let paths = Paths::from_environment(&environment).expect("paths");
    paths.ensure().expect("folders");
    let order = order(world, file, environment);
    DiskFolders::new(paths.clone()).write(&order.record).expect("a launch folder");
    let holders = LocalHolders::new(paths).with_program(program.to_owned());
    block_on(async {
        let begin = std::time::Instant::now();
        holders.start(&order).await.expect("a holder");
        wait_for_end(&holders, order.record.launch.id).await;
        let time = begin.elapsed();
        holders.release(order.record.launch.id).await.expect("the holder goes");
        time
    })
}

fn order(world: &World, file: &Path, environment: Environment) -> StartOrder {
    let samples = Samples::default();
    let session = samples.session("bench", "output");
    let mut launch = samples.launch(session.id, 1);
    launch.cwd = world.project();
    let argv = vec!["/bin/cat".to_owned(), file.display().to_string()];
    StartOrder {
        record: LaunchRecord::new(session, launch, Vec::new()),
        argv,
        before: Vec::new(),
        input: None,
        environment,
        size: TerminalSize::DEFAULT,
    }
}

async fn wait_for_end(holders: &LocalHolders, launch: LaunchId) {
    let mut events = holders.subscribe(launch).await.expect("a subscription");
    while let Some(event) = events.next().await {
        if matches!(event, HolderEvent::Ended(_)) {
            return;
        }
    }
    panic!("the holder exited without an `Ended` event");
}

/// Writes a file of at least `size` bytes, line by line. Returns its path.
fn file(world: &World, name: &str, size: usize, line: fn(usize) -> String) -> PathBuf {
    let path = world.root().join(name);
    let mut file = BufWriter::new(File::create(&path).expect("a file"));
    let (mut written, mut number) = (0, 0);
    while written < size {
        let line = line(number);
        file.write_all(line.as_bytes()).expect("a line");
        written += line.len();
        number += 1;
    }
    file.flush().expect("a file");
    path
}

const WORDS: [&str; 8] =
    ["parser", "of", "the", "compiler", "reads", "a", "token", "and builds a tree"];

fn words(number: usize, count: usize) -> impl Iterator<Item = &'static str> {
    WORDS.iter().cycle().skip(number % WORDS.len()).take(count).copied()
}

fn plain_line(number: usize) -> String {
    let words: Vec<&str> = words(number, 4 + number % 17).collect();
    format!("{number} {}\n", words.join(" "))
}

/// Returns output like that of a full-screen program: it moves the cursor, changes colours, draws
/// text and clears the rest of the line.
fn drawn_line(number: usize) -> String {
    let (row, column, colour) = (1 + number % 40, 1 + number * 7 % 100, 16 + number % 216);
    let coloured = |word: &str| format!("\x1b[{}m{word}\x1b[39m ", 31 + number % 7);
    let words: String = words(number, 3).map(coloured).collect();
    let end = if number.is_multiple_of(5) { "\r\n" } else { "" };
    format!(
        "\x1b[{row};{column}H\x1b[38;5;{colour}m│ \x1b[1m{number}\x1b[22m {words}\x1b[K\x1b[0m{end}"
    )
}
