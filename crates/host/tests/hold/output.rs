//! Tests of output that arrives while no client is attached.

use segue_core::ports::Holders as _;

use crate::fixture::HoldFixture;

fn wanted() -> Vec<String> {
    let mut rows: Vec<String> = (39_962..=40_000).map(|number| number.to_string()).collect();
    rows.push("the last line".to_owned());
    rows
}

#[tokio::test]
async fn flood_of_lines_is_on_the_screen_if_output_follows_it() {
    let fixture = HoldFixture::new();
    let script = "seq 1 40000; printf 'the last line'; title done; exec sleep 600";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.titled(launch, "done").await;
    assert_eq!(fixture.snapshot(launch).await.rows, wanted());
}

#[tokio::test]
async fn flood_of_lines_is_on_the_screen_if_the_agent_ends_after_it() {
    let fixture = HoldFixture::new();
    let script = "seq 1 40000; printf 'the last line'; exit 7";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.ended(launch).await;
    assert_eq!(fixture.snapshot(launch).await.rows, wanted());
}

#[tokio::test]
async fn query_that_arrives_in_pieces_after_text_is_answered() {
    let fixture = HoldFixture::new();
    let mut ear = fixture.ear("ear");
    let script = "stty raw -echo; pause() { echo ready > ear; dd bs=1 count=1 >/dev/null 2>&1; }; \
                  printf 'words and words\\033'; pause; printf '['; pause; printf '6'; pause; \
                  printf n; dd bs=1 count=7 2>/dev/null | od -An -c; title asked; exec sleep 600";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    for _ in 0..3 {
        ear.hears(1).await;
        fixture.snapshot(launch).await;
        fixture.holders.inject(launch, b"\r").await.unwrap();
    }
    fixture.titled(launch, "asked").await;
    let text = fixture.snapshot(launch).await.rows.join("\n");
    assert!(text.contains("[   1   ;   1   6   R"), "{text}");
}
