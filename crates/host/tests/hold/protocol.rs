//! Tests of the holder protocol: other versions, unknown messages and invalid data.

use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use segue_core::Kind;
use segue_core::model::{LaunchId, MessageId};
use segue_core::ports::{Holders as _, TypeOrder};
use uuid::Uuid;

use super::fixture::{DEADLINE, HoldFixture};

pub(crate) const HELLO: u8 = 1;
pub(crate) const REQUEST: u8 = 2;
pub(crate) const ANSWER: u8 = 3;
pub(crate) const INPUT: u8 = 5;

pub(crate) fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[..], &[kind], payload].concat()
}

pub(crate) fn connect(fixture: &HoldFixture, launch: LaunchId) -> UnixStream {
    let stream = UnixStream::connect(fixture.socket(launch)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

pub(crate) fn read_frame(stream: &mut UnixStream) -> (u8, String) {
    let mut header = [0; 5];
    stream.read_exact(&mut header).unwrap();
    let length = u32::from_be_bytes(header[..4].try_into().unwrap());
    let mut payload = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut payload).unwrap();
    (header[4], String::from_utf8(payload).unwrap())
}

fn ask(stream: &mut UnixStream, request: &str) -> (u8, String) {
    stream.write_all(&frame(REQUEST, request.as_bytes())).unwrap();
    read_frame(stream)
}

#[tokio::test]
async fn client_of_a_newer_version_can_use_this_holder() {
    let fixture = HoldFixture::new();
    let (launch, _) = fixture.start(&fixture.shell("read line")).await;
    let mut client = connect(&fixture, launch);
    let hello = br#"{"protocol":9,"oldest":1,"capabilities":["teleport"],"new":{"x":1}}"#;
    client.write_all(&frame(HELLO, hello)).unwrap();
    let (kind, hello) = read_frame(&mut client);
    assert_eq!(kind, HELLO);
    assert!(hello.starts_with(r#"{"protocol":1,"oldest":1"#), "{hello}");
    // Unknown messages are skipped or refused, and the connection stays usable.
    client.write_all(&frame(200, b"\x00\xff")).unwrap();
    let (kind, answer) = ask(&mut client, r#"{"teleport":{"to":"mars"}}"#);
    assert_eq!(kind, ANSWER);
    assert!(answer.contains("does not support the request"), "{answer}");
    let (_, status) = ask(&mut client, r#""status""#);
    assert!(status.contains(&launch.to_string()), "{status}");
}

#[tokio::test]
async fn client_without_a_common_version_gets_an_error() {
    let fixture = HoldFixture::new();
    let (launch, _) = fixture.start(&fixture.shell("read line")).await;
    let mut client = connect(&fixture, launch);
    client.write_all(&frame(HELLO, br#"{"protocol":9,"oldest":5}"#)).unwrap();
    read_frame(&mut client);
    let (kind, answer) = read_frame(&mut client);
    assert_eq!(kind, ANSWER);
    assert!(answer.contains("5 to 9"), "{answer}");
    assert_eq!(client.read(&mut [0; 8]).unwrap(), 0, "the connection is still open");
}

#[tokio::test]
async fn invalid_data_does_not_disturb_the_holder() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell("read line")).await;
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 4096], &frame(REQUEST, b"{"), b"\0"] {
        let mut client = connect(&fixture, launch);
        client.write_all(bytes).unwrap();
    }
    let mut client = connect(&fixture, launch);
    client.write_all(&frame(HELLO, br#"{"protocol":1,"oldest":1}"#)).unwrap();
    read_frame(&mut client);
    client.write_all(&frame(REQUEST, &vec![b'x'; (1 << 20) + 1])).unwrap();
    let (_, answer) = read_frame(&mut client);
    assert!(answer.contains("too large"), "{answer}");
    let (_, answer) = ask(&mut client, r#"{"resize":{"rows":1,"cols":1}}"#);
    assert!(answer.contains("not attached"), "{answer}");
    let (_, answer) = ask(&mut client, r#"{"attach":{"rows":65535,"cols":65535}}"#);
    assert!(!answer.is_empty());
    assert_eq!(fixture.snapshot(launch).await.size.rows, 500);
    drop(client);
    assert_eq!(fixture.holders.find(launch).await.unwrap(), Some(held));
}

#[tokio::test]
async fn client_that_never_reads_does_not_delay_the_end_of_a_holder() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture
        .start(&fixture.shell("read line; yes | head -c 3000000; title up; read line"))
        .await;
    let mut client = connect(&fixture, launch);
    client.write_all(&frame(HELLO, br#"{"protocol":1,"oldest":1}"#)).unwrap();
    client.write_all(&frame(REQUEST, br#"{"attach":{"rows":20,"cols":80}}"#)).unwrap();
    fixture.holders.inject(launch, b"\r").await.unwrap();
    fixture.wait_for_title(launch, "up").await;
    assert!(fixture.holders.stop(launch, Duration::ZERO).await.unwrap().is_some());
    super::fixture::wait_for_exit(&held.holder).await;
}

/// A holder of an older version, started as `perl hold FOLDER`. It serves three clients: it sends a
/// hello to each, and prints how many bytes it received from it afterwards.
const OLD_HOLDER: &str = r#"
use IO::Socket::UNIX;
my $listener = IO::Socket::UNIX->new(Local => "$ARGV[0]/holder.sock", Listen => 5) or die $!;
$| = 1;
print "up\n";
for (1 .. 3) {
    my $client = $listener->accept or die $!;
    read($client, my $header, 5) == 5 or die "no header";
    my ($length, $kind) = unpack('NC', $header);
    read($client, my $hello, $length);
    my $answer = '{"protocol":1,"oldest":1}';
    syswrite($client, pack('NC', length $answer, 1) . $answer);
    my $more = 0;
    $more += $_ while $_ = sysread($client, my $bytes, 4096);
    print "hello $kind, then $more bytes\n";
}
"#;

/// Starts a Perl script as the holder of a new launch, and waits until it prints `up`. Returns the
/// lines that it prints afterwards.
pub(crate) fn start_old_holder(
    fixture: &HoldFixture,
    script: &str,
) -> (LaunchId, Child, Lines<BufReader<ChildStdout>>) {
    let launch = LaunchId::new(Uuid::now_v7());
    let folder = fixture.paths.launch(launch);
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("hold"), script).unwrap();
    let mut command = Command::new("perl");
    command.arg("hold").arg(&folder).current_dir(&folder).stdout(Stdio::piped());
    let mut old = command.spawn().unwrap();
    let mut lines = BufReader::new(old.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "up");
    (launch, old, lines)
}

#[tokio::test]
async fn older_holder_is_not_sent_requests_that_it_does_not_know() {
    let fixture = HoldFixture::new();
    let (launch, mut old, lines) = start_old_holder(&fixture, OLD_HOLDER);
    let message = MessageId::new(Uuid::now_v7());
    let order = TypeOrder { message, text: "hello".to_owned(), revision: 0 };
    let errors = [
        fixture.holders.screen(launch).await.unwrap_err(),
        fixture.holders.type_message(launch, &order).await.unwrap_err(),
        fixture.holders.press(launch, b"x", 0).await.unwrap_err(),
    ];
    for (error, request) in errors.iter().zip(["`screen`", "`type`", "`press`"]) {
        assert_eq!(error.kind, Kind::Unavailable);
        assert!(
            error.message.contains("older version") && error.message.contains(request),
            "{error}"
        );
    }
    let printed: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(printed, ["hello 1, then 0 bytes"; 3]);
    old.wait().unwrap();
}

#[tokio::test]
async fn clients_send_nothing_to_a_process_that_is_not_the_launchs_holder() {
    let fixture = HoldFixture::new();
    let (other, _) = fixture.start(&fixture.shell("read line")).await;
    let own = LaunchId::new(Uuid::now_v7());
    std::fs::create_dir(fixture.paths.launch(own)).unwrap();
    // An agent can create a symlink to another launch's holder.
    std::os::unix::fs::symlink(fixture.socket(other), fixture.socket(own)).unwrap();
    assert!(fixture.holders.find(own).await.unwrap().is_none());
    std::fs::remove_file(fixture.socket(own)).unwrap();
    // This test process listens, and it is not a holder.
    let listener = UnixListener::bind(fixture.socket(own)).unwrap();
    assert!(fixture.holders.find(own).await.unwrap().is_none());
    let (mut client, _) = listener.accept().unwrap();
    assert_eq!(client.read(&mut [0; 8]).unwrap(), 0, "the client sent bytes");
    assert!(fixture.holders.find(other).await.unwrap().is_some());
}
