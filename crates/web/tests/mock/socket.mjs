// The few parts of WebSocket that the mock terminal needs.

import { createHash } from "node:crypto";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

export function accept(request, socket, onMessage) {
  const key = createHash("sha1").update(request.headers["sec-websocket-key"] + GUID).digest("base64");
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\nSec-WebSocket-Protocol: segue.terminal\r\n\r\n`);
  let buffer = Buffer.alloc(0);
  socket.on("data", (data) => {
    buffer = Buffer.concat([buffer, data]);
    for (let frame = take(); frame; frame = take()) {
      if (frame.code === 8) socket.end();
      else if (frame.code <= 2) onMessage(frame.code === 1 ? frame.payload.toString() : frame.payload);
    }
  });
  const take = () => {
    if (buffer.length < 6) return null;
    let size = buffer[1] & 127;
    let at = 2;
    if (size === 126) { size = buffer.readUInt16BE(2); at = 4; }
    if (buffer.length < at + 4 + size) return null;
    const mask = buffer.subarray(at, at + 4);
    const payload = Buffer.from(buffer.subarray(at + 4, at + 4 + size).map((byte, index) => byte ^ mask[index % 4]));
    const code = buffer[0] & 15;
    buffer = buffer.subarray(at + 4 + size);
    return { code, payload };
  };
  return (data) => {
    const payload = Buffer.from(data);
    const code = typeof data === "string" ? 0x81 : 0x82;
    const head = payload.length < 126 ? Buffer.from([code, payload.length]) : Buffer.from([code, 126, payload.length >> 8, payload.length & 255]);
    socket.write(Buffer.concat([head, payload]));
  };
}
