//! Frames: pieces of a connection with a kind and a length.

use serde::Serialize;

/// Larger frames are refused: nothing that is said is that long.
pub(crate) const LARGEST: usize = 1 << 20;
const HEADER: usize = 5;

/// The kinds of frames.
pub(crate) mod kind {
    pub(crate) const HELLO: u8 = 1;
    /// A client asks; JSON.
    pub(crate) const REQUEST: u8 = 2;
    /// The holder answers; JSON.
    pub(crate) const ANSWER: u8 = 3;
    /// Something happened; JSON.
    pub(crate) const EVENT: u8 = 4;
    /// What an attached person typed.
    pub(crate) const INPUT: u8 = 5;
    /// What an attached person's terminal has to be sent.
    pub(crate) const OUTPUT: u8 = 6;
    /// Bytes for the agent's terminal; answered.
    pub(crate) const INJECT: u8 = 7;
    /// The last of what the agent wrote; comes before the answer to the request for it.
    pub(crate) const HISTORY: u8 = 8;
    /// A piece of the lines that can be scrolled through; all pieces come before the answer.
    pub(crate) const SCROLLBACK: u8 = 9;
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) payload: Vec<u8>,
}

/// What came over a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Frame(Frame),
    /// A frame of this kind was too large, and was skipped.
    TooLarge(u8),
}

/// Appends a frame.
pub(crate) fn encode(kind: u8, payload: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.push(kind);
    out.extend_from_slice(payload);
}

/// Returns a frame with a message.
pub(crate) fn encode_message(kind: u8, message: &impl Serialize) -> Vec<u8> {
    // Messages are made of texts, numbers and maps with text keys, which always serialise.
    let payload = serde_json::to_vec(message).unwrap_or_default();
    let mut out = Vec::with_capacity(HEADER + payload.len());
    encode(kind, &payload, &mut out);
    out
}

/// Puts frames together from whatever pieces they arrive in.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    buffer: Vec<u8>,
    /// Bytes of a frame that is too large which are still to come.
    skipping: u64,
}

impl Decoder {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let skipped = usize::try_from(self.skipping).unwrap_or(usize::MAX).min(bytes.len());
        self.skipping -= skipped as u64;
        self.buffer.extend_from_slice(bytes.get(skipped..).unwrap_or_default());
    }

    /// Takes the next whole frame.
    pub(crate) fn next(&mut self) -> Option<Received> {
        let (header, rest) = self.buffer.split_at_checked(HEADER)?;
        let &[a, b, c, d, kind] = header else { return None };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > LARGEST {
            let here = rest.len().min(length);
            self.skipping = (length - here) as u64;
            self.buffer.drain(..HEADER + here);
            return Some(Received::TooLarge(kind));
        }
        let payload = rest.get(..length)?.to_vec();
        self.buffer.drain(..HEADER + length);
        Some(Received::Frame(Frame { kind, payload }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(chunks: &[&[u8]]) -> Vec<Received> {
        let mut decoder = Decoder::default();
        let mut found = Vec::new();
        for chunk in chunks {
            decoder.push(chunk);
            found.extend(std::iter::from_fn(|| decoder.next()));
        }
        found
    }

    #[test]
    fn frames_survive_however_they_are_torn() {
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
    fn a_frame_that_is_too_large_does_no_harm() {
        let mut stream = Vec::new();
        encode(kind::INJECT, &vec![b'x'; LARGEST + 1], &mut stream);
        encode(kind::INPUT, b"after", &mut stream);
        let chunks: Vec<&[u8]> = stream.chunks(65_536).collect();
        let mut decoder = Decoder::default();
        let mut found = Vec::new();
        for chunk in chunks {
            decoder.push(chunk);
            found.extend(std::iter::from_fn(|| decoder.next()));
            assert!(decoder.buffer.capacity() <= 2 * 65_536 + HEADER);
        }
        let after = Frame { kind: kind::INPUT, payload: b"after".to_vec() };
        assert_eq!(found, [Received::TooLarge(kind::INJECT), Received::Frame(after)]);
    }
}
