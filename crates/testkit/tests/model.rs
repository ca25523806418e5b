//! Tests the scripted model itself with raw HTTP requests.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use segue_testkit::Model;
use segue_testkit::model::{AnswerStage, Api};
use serde_json::{Value, json};

fn connect(model: &Model) -> std::io::Result<TcpStream> {
    TcpStream::connect(model.url().trim_start_matches("http://"))
}

/// Sends a request on a new connection, which the server closes after the response.
fn ask(model: &Model, path: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let mut stream = connect(model).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: model\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

fn rest(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Reads until the response contains a text. Returns everything that it read.
fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    while !text.contains(wanted) {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "no {wanted} in {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    text
}

fn tools() -> Value {
    json!([{"name": "Bash", "input_schema": {"properties": {"command": {"type": "string"}}}}])
}

fn messages(text: &str) -> Value {
    let messages = [json!({"role": "user", "content": text})];
    json!({"model": "m", "stream": true, "tools": tools(), "messages": messages})
}

fn whole(text: &str) -> Value {
    let mut body = messages(text);
    body["stream"] = json!(false);
    body
}

const MESSAGES: &str = "/v1/messages?beta=true";

#[test]
fn a_hold_waits_until_it_is_released_and_a_retry_does_not_wait() {
    let model = Model::start();
    let mut first = ask(&model, MESSAGES, &messages("[[hold: gate]] [[say: after]]"));
    let before = read_until(&mut first, "holding gate");
    assert_eq!(model.wait_held("gate").stage, AnswerStage::Holding("gate".to_owned()));
    assert!(!before.contains("after"));
    model.release("gate");
    assert!(rest(first).contains("message_stop"));
    let again = rest(ask(&model, MESSAGES, &messages("[[hold: gate]] [[say: after]]")));
    assert!(again.contains("after"), "{again}");
}

#[test]
fn a_scripted_failure_is_repeated_on_every_retry() {
    let model = Model::start();
    for _ in 0..2 {
        let answer = rest(ask(&model, MESSAGES, &messages("[[status: 529]]")));
        assert!(answer.starts_with("HTTP/1.1 529") && answer.contains("overloaded_error"));
    }
    let limit = rest(ask(&model, MESSAGES, &messages("[[limit: 2030-01-01T10:00:00Z]]")));
    assert!(limit.contains("anthropic-ratelimit-unified-reset: 1893492000\r\n"), "{limit}");
}

#[test]
fn a_cut_answer_lacks_its_end() {
    let model = Model::start();
    for body in [messages("[[cut]]"), whole("[[cut]]")] {
        let answer = rest(ask(&model, MESSAGES, &body));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(!answer.ends_with("0\r\n\r\n"), "a whole answer: {answer}");
    }
    model.wait_for(|it| it.stage == AnswerStage::Cut);
}

#[test]
fn a_slow_answer_is_streamed_in_pieces() {
    let model = Model::start();
    let answer = rest(ask(&model, MESSAGES, &messages("[[slow: 0.1]] [[say: at last]]")));
    assert!(answer.matches("content_block_delta").count() > 10, "{answer}");
    assert!(answer.contains("piece 10") && answer.contains("at last"), "{answer}");
}

#[test]
fn a_request_without_streaming_gets_a_whole_answer() {
    let model = Model::start();
    let answer = rest(ask(&model, MESSAGES, &whole("[[say: a]] [[tool: ls]]")));
    let tool = r#"{"id":"toolu_"#;
    assert!(answer.contains(r#"{"text":"a","type":"text"}"#) && answer.contains(tool), "{answer}");
    let answer = rest(ask(&model, "/v1/responses", &json!({"tools": [], "input": []})));
    assert!(answer.contains(r#""status":"completed""#), "{answer}");
    let counted = rest(ask(&model, "/v1/messages/count_tokens", &whole("[[status: 500]]")));
    assert!(counted.contains("input_tokens"), "{counted}");
}

#[test]
fn connections_are_refused_until_the_same_port_is_open_again() {
    let model = Model::start();
    let mut open = ask(&model, MESSAGES, &messages("[[hang]]"));
    read_until(&mut open, "hanging");
    model.refuse();
    // The open connection is closed, too. Reading returns an end of file or a reset, but no more
    // text.
    assert_eq!(open.read(&mut [0; 16]).unwrap_or(0), 0);
    assert_eq!(connect(&model).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    model.accept();
    assert!(rest(ask(&model, MESSAGES, &messages("hello"))).contains("turns=1"));
    let numbers: Vec<usize> = model.exchanges().iter().map(|it| it.number).collect();
    assert_eq!(numbers, [1, 2]);
    assert!(model.exchanges().iter().all(|it| it.api == Api::Anthropic && it.has_tools));
}

const CHAT: &str = "/v1/chat/completions";

fn chat(text: &str, stream: bool) -> Value {
    let schema =
        json!({"properties": {"command": {"type": "string"}}, "required": ["command", "why"]});
    let tool = json!({"type": "function", "function": {"name": "bash", "parameters": schema}});
    let messages = [json!({"role": "user", "content": text})];
    json!({"model": "m", "stream": stream, "tools": [tool], "messages": messages})
}

#[test]
fn chat_completions_are_answered_with_and_without_streaming() {
    let model = Model::start();
    let pieces = rest(ask(&model, CHAT, &chat("[[say: a]] [[tool: ls]]", true)));
    assert!(pieces.contains(r#""finish_reason":"tool_calls""#), "{pieces}");
    assert!(pieces.contains("data: [DONE]"), "{pieces}");
    let whole = rest(ask(&model, CHAT, &chat("[[say: a]] [[tool: ls]]", false)));
    let call = r#"{\"command\":\"ls\",\"why\":\"Scripted\"}"#;
    assert!(whole.contains(call) && whole.contains(r#""content":"a""#), "{whole}");
    let cut = rest(ask(&model, CHAT, &chat("[[cut]]", true)));
    assert!(cut.contains("cut") && !cut.contains("[DONE]"), "{cut}");
    let limit = rest(ask(&model, CHAT, &chat("[[limit: 2030-01-01T10:00:00Z]]", true)));
    assert!(limit.starts_with("HTTP/1.1 429") && limit.contains("insufficient_quota"), "{limit}");
    assert!(model.exchanges().iter().all(|it| it.api == Api::Chat && !it.is_background));
}

fn contents(text: &str) -> Value {
    let schema = json!({"properties": {"command": {"type": "string"}}});
    let tool = json!({"name": "run_shell_command", "parametersJsonSchema": schema});
    let contents = [json!({"role": "user", "parts": [{"text": text}]})];
    json!({"tools": [{"functionDeclarations": [tool]}], "contents": contents})
}

#[test]
fn gemini_requests_are_answered_with_and_without_streaming() {
    let model = Model::start();
    let path = |task: &str| format!("/v1beta/models/m:{task}");
    let stream = path("streamGenerateContent?alt=sse");
    let pieces = rest(ask(&model, &stream, &contents("[[say: a]] [[tool: ls]]")));
    assert!(pieces.contains(r#""args":{"command":"ls"}"#), "{pieces}");
    assert!(pieces.contains(r#""finishReason":"STOP""#), "{pieces}");
    let whole = rest(ask(&model, &path("generateContent"), &contents("hello")));
    assert!(whole.contains("turns=1") && !whole.contains("data: "), "{whole}");
    let cut = rest(ask(&model, &stream, &contents("[[cut]]")));
    assert!(cut.contains("cut") && !cut.contains("STOP"), "{cut}");
    let limit = rest(ask(&model, &stream, &contents("[[limit: 2030-01-01T10:00:00Z]]")));
    assert!(limit.starts_with("HTTP/1.1 429") && limit.contains("retryDelay"), "{limit}");
    let counted = rest(ask(&model, &path("countTokens"), &contents("[[status: 500]]")));
    assert!(counted.contains("totalTokens"), "{counted}");
    assert_eq!(model.conversations().len(), 4);
    assert!(model.exchanges().iter().all(|it| it.api == Api::Gemini));
}
