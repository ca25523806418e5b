"""Uses the generated Python client. The generated package is in the search path."""

import os
import sys
from uuid import UUID

from prometheus_client.parser import text_string_to_metric_families
from segue_client import AuthenticatedClient
from segue_client.api.daemon import get_metrics
from segue_client.api.events import list_events
from segue_client.api.messages import list_messages, send_message
from segue_client.api.sessions import get_session, get_transcript, list_sessions, run
from segue_client.models import (
    Caller,
    Event,
    EventKind,
    MessageSendBody,
    Problem,
    RunRequest,
    SendReport,
    SessionList,
    SessionView,
    StartedSession,
    TranscriptPage,
    Until,
)

client = AuthenticatedClient(base_url=os.environ["SEGUE_URL"], token=os.environ["SEGUE_TOKEN"])

started = run.sync(
    client=client,
    body=RunRequest(
        caller=Caller(cwd=os.environ["SEGUE_FOLDER"]), vendor="demo", name="heron", prompt="hello"
    ),
    idempotency_key="start the heron",
)
assert isinstance(started, StartedSession), started
again = run.sync(
    client=client,
    body=RunRequest(
        caller=Caller(cwd=os.environ["SEGUE_FOLDER"]), vendor="demo", name="heron", prompt="hello"
    ),
    idempotency_key="start the heron",
)
assert isinstance(again, StartedSession) and again.id == started.id, again

listed = list_sessions.sync(client=client, limit=1)
assert isinstance(listed, SessionList) and len(listed.sessions) == 1, listed
assert isinstance(listed.next_, str), listed
rest = list_sessions.sync(client=client, cursor=listed.next_)
assert isinstance(rest, SessionList) and len(rest.sessions) == 1, rest
assert {listed.sessions[0].name, rest.sessions[0].name} == {"fox", "heron"}

body = MessageSendBody(text="remember the word amber", until=Until.TURN_ENDED, timeout_ms=60000)
sent = send_message.sync(started.id, client=client, body=body)
assert isinstance(sent, SendReport) and sent.turn_ended, sent
assert len(list_messages.sync(started.id, client=client).messages) == 1
shown = get_session.sync(started.id, client=client)
assert isinstance(shown, SessionView) and shown.address == "default/heron", shown
page = get_transcript.sync(started.id, client=client, limit=2)
assert isinstance(page, TranscriptPage) and len(page.turns) == 2, page
assert any("amber" in turn.text for turn in page.turns), page

events = list_events.sync(client=client, sessions=str(started.id), limit=1000)
assert all(isinstance(event, Event) for event in events)
assert EventKind.MESSAGE_DELIVERED in {event.kind for event in events}

missing = get_session.sync(UUID(int=1), client=client)
assert isinstance(missing, Problem) and missing.kind.value == "not_found", missing
assert missing.status == 404 and missing.type_ == "urn:segue:problem:not_found", missing

metrics = get_metrics.sync(client=client)
families = {family.name: family for family in text_string_to_metric_families(metrics)}
sessions = sum(sample.value for sample in families["segue_sessions"].samples)
assert sessions == 2, families["segue_sessions"]
latency = families["segue_message_latency_seconds"]
assert latency.type == "histogram", latency
count = [it.value for it in latency.samples if it.name == "segue_message_latency_seconds_count"]
assert count == [1], latency
commits = families["segue_store_commit_seconds"].samples
assert [it for it in commits if it.name.endswith("_count")][0].value > 0, commits
assert families["segue_tasks"].samples and families["segue_build_info"].samples[0].value == 1
print("ok")
sys.exit(0)
