//! Frames: pieces of a connection, each with a kind and a length.

use serde::Serialize;

/// The maximum size of a payload. Larger frames are skipped. No message is that long.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 1 << 20;
const HEADER_BYTES: usize = 5;

/// The kinds of frames.
pub(crate) mod kind {
    pub(crate) const HELLO: u8 = 1;
    /// A request of a client, as JSON.
    pub(crate) const REQUEST: u8 = 2;
    /// An answer of the holder, as JSON.
    pub(crate) const ANSWER: u8 = 3;
    /// An event, as JSON.
    pub(crate) const EVENT: u8 = 4;
    /// Input of an attached user.
    pub(crate) const INPUT: u8 = 5;
    /// Output for the terminal of an attached user.
    pub(crate) const OUTPUT: u8 = 6;
    /// Bytes for the agent's terminal. The holder answers this frame.
    pub(crate) const INJECT: u8 = 7;
    /// The last bytes that the agent wrote. Sent before the answer to the request.
    pub(crate) const HISTORY: u8 = 8;
    /// A piece of the scrollback lines. All pieces are sent before the answer.
    pub(crate) const SCROLLBACK: u8 = 9;
    /// The beginning of a repaint, as JSON. The output after it paints the whole screen.
    pub(crate) const PAINTED: u8 = 10;
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) payload: Vec<u8>,
}

/// The next frame of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Frame(Frame),
    /// A frame of this kind was too large, and was skipped.
    TooLarge(u8),
}

/// Appends a frame to `out`.
pub(crate) fn encode(kind: u8, payload: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.push(kind);
    out.extend_from_slice(payload);
}

/// Returns a frame with a message as JSON.
pub(crate) fn encode_message(kind: u8, message: &impl Serialize) -> Vec<u8> {
    // Messages consist of texts, numbers and maps with text keys, so serialisation cannot fail.
    let payload = serde_json::to_vec(message).unwrap_or_default();
    let mut out = Vec::with_capacity(HEADER_BYTES + payload.len());
    encode(kind, &payload, &mut out);
    out
}

/// Assembles frames from pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct FrameDecoder {
    buffer: Vec<u8>,
    /// The number of bytes of an oversized frame that are still to be skipped.
    skipping: u64,
}

impl FrameDecoder {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let skipped = usize::try_from(self.skipping).unwrap_or(usize::MAX).min(bytes.len());
        self.skipping -= skipped as u64;
        self.buffer.extend_from_slice(bytes.get(skipped..).unwrap_or_default());
    }

    /// Returns the next complete frame. `None` if more bytes are needed.
    pub(crate) fn next(&mut self) -> Option<Received> {
        let (header, rest) = self.buffer.split_at_checked(HEADER_BYTES)?;
        let &[a, b, c, d, kind] = header else { return None };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > MAX_PAYLOAD_BYTES {
            let received = rest.len().min(length);
            self.skipping = (length - received) as u64;
            self.buffer.drain(..HEADER_BYTES + received);
            return Some(Received::TooLarge(kind));
        }
        let payload = rest.get(..length)?.to_vec();
        self.buffer.drain(..HEADER_BYTES + length);
        Some(Received::Frame(Frame { kind, payload }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(chunks: &[&[u8]]) -> Vec<Received> {
        let mut decoder = FrameDecoder::default();
        let mut found = Vec::new();
        for chunk in chunks {
            decoder.push(chunk);
            found.extend(std::iter::from_fn(|| decoder.next()));
        }
        found
    }

    #[test]
    fn frames_are_decoded_wherever_the_stream_is_cut() {
        let mut stream = Vec::new();
        encode(kind::INPUT, b"one", &mut stream);
        encode(77, b"", &mut stream);
        encode(kind::OUTPUT, &[0; 300], &mut stream);
        let whole = decode(&[&stream]);
        assert_eq!(whole.len(), 3);
        for cut in 0..=stream.len() {
            let (head, tail) = stream.split_at(cut);
            assert_eq!(decode(&[head, tail]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn oversized_frame_is_skipped_and_not_buffered() {
        let mut stream = Vec::new();
        encode(kind::INJECT, &vec![b'x'; MAX_PAYLOAD_BYTES + 1], &mut stream);
        encode(kind::INPUT, b"after", &mut stream);
        let chunks: Vec<&[u8]> = stream.chunks(65_536).collect();
        let mut decoder = FrameDecoder::default();
        let mut found = Vec::new();
        for chunk in chunks {
            decoder.push(chunk);
            found.extend(std::iter::from_fn(|| decoder.next()));
            assert!(decoder.buffer.capacity() <= 2 * 65_536 + HEADER_BYTES);
        }
        let after = Frame { kind: kind::INPUT, payload: b"after".to_vec() };
        assert_eq!(found, [Received::TooLarge(kind::INJECT), Received::Frame(after)]);
    }
}
