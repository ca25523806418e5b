//! Tests of output that arrives while no client is attached.

use segue_core::ports::Holders as _;

use crate::fixture::HoldFixture;

/// Returns the screen after the script has written 40,000 lines and the last line.
fn last_rows() -> Vec<String> {
    let mut rows: Vec<String> = (39_962..=40_000).map(|number| number.to_string()).collect();
    rows.push("the last line".to_owned());
    rows
}

#[tokio::test]
async fn screen_is_correct_after_many_lines_if_output_follows() {
    let fixture = HoldFixture::new();
    let script = "seq 1 40000; printf 'the last line'; title done; exec sleep 600";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "done").await;
    assert_eq!(fixture.snapshot(launch).await.rows, last_rows());
}

#[tokio::test]
async fn screen_is_correct_after_many_lines_if_the_agent_ends() {
    let fixture = HoldFixture::new();
    let script = "seq 1 40000; printf 'the last line'; exit 7";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_end(launch).await;
    assert_eq!(fixture.snapshot(launch).await.rows, last_rows());
}

#[tokio::test]
async fn terminal_query_that_is_split_into_several_writes_is_answered() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("lines");
    let script = "stty raw -echo; pause() { echo ready > lines; dd bs=1 count=1 >/dev/null 2>&1; }; \
                  printf 'words and words\\033'; pause; printf '['; pause; printf '6'; pause; \
                  printf n; dd bs=1 count=7 2>/dev/null | od -An -c; title asked; exec sleep 600";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    for _ in 0..3 {
        lines.read_lines(1).await;
        fixture.snapshot(launch).await;
        fixture.holders.inject(launch, b"\r").await.unwrap();
    }
    fixture.wait_for_title(launch, "asked").await;
    let text = fixture.snapshot(launch).await.rows.join("\n");
    assert!(text.contains("[   1   ;   1   6   R"), "{text}");
}
