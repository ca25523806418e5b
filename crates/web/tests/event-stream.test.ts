import assert from "node:assert/strict";
import { test } from "node:test";

import { EventStreamParser } from "../page/model/event-stream.ts";

const STREAM = ': events of Segue\n\nid: 1\nevent: bound\ndata: {"seq":1}\n\n: heartbeat\n\nid: 2\nevent: swept\ndata: {"seq":2}\n\n';

test("events are read whole, however the stream is divided", () => {
  for (let length = 1; length <= STREAM.length; length++) {
    const parser = new EventStreamParser();
    const found: string[] = [];
    for (let at = 0; at < STREAM.length; at += length) {
      found.push(...parser.add(STREAM.slice(at, at + length)));
    }
    assert.deepEqual(found, ['{"seq":1}', '{"seq":2}'], `parts of ${length}`);
  }
});

test("an event that is not complete is not read", () => {
  const parser = new EventStreamParser();
  assert.deepEqual(parser.add('data: {"seq":1}\n'), []);
  assert.deepEqual(parser.add("\n"), ['{"seq":1}']);
});
