//! What keys and tokens look like: the one list of their beginnings.

/// What begins a key that is written as a block of lines.
pub(super) const BLOCK: &str = "-----BEGIN";

/// One sort of key or token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) start: &'static str,
    rest: Rest,
    /// So many characters follow at least.
    least: usize,
}

/// What follows the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// Characters of a word and `-`; the beginning alone says what it is.
    Anything,
    /// The same, but the beginning is also found in ordinary names, so that it must look drawn by lot.
    Drawn,
    /// Letters and digits, with at least one that is no small letter.
    Letters,
    /// Exactly so many capitals and digits.
    Capitals,
    /// Parts with points between them.
    Parts,
    /// Parts with slashes between them.
    Path,
}

pub(super) const SHAPES: [Shape; 39] = [
    Shape { start: "sk-ant-", rest: Rest::Anything, least: 12 },
    Shape { start: "sk-proj-", rest: Rest::Anything, least: 12 },
    Shape { start: "sk-", rest: Rest::Drawn, least: 16 },
    Shape { start: "sk_live_", rest: Rest::Letters, least: 10 },
    Shape { start: "sk_test_", rest: Rest::Letters, least: 10 },
    Shape { start: "rk_live_", rest: Rest::Letters, least: 10 },
    Shape { start: "rk_test_", rest: Rest::Letters, least: 10 },
    Shape { start: "whsec_", rest: Rest::Letters, least: 16 },
    Shape { start: "ghp_", rest: Rest::Letters, least: 12 },
    Shape { start: "gho_", rest: Rest::Letters, least: 12 },
    Shape { start: "ghu_", rest: Rest::Letters, least: 12 },
    Shape { start: "ghs_", rest: Rest::Letters, least: 12 },
    Shape { start: "ghr_", rest: Rest::Letters, least: 12 },
    Shape { start: "github_pat_", rest: Rest::Anything, least: 12 },
    Shape { start: "glpat-", rest: Rest::Anything, least: 12 },
    Shape { start: "xoxa-", rest: Rest::Anything, least: 10 },
    Shape { start: "xoxb-", rest: Rest::Anything, least: 10 },
    Shape { start: "xoxe-", rest: Rest::Anything, least: 10 },
    Shape { start: "xoxp-", rest: Rest::Anything, least: 10 },
    Shape { start: "xoxr-", rest: Rest::Anything, least: 10 },
    Shape { start: "xoxs-", rest: Rest::Anything, least: 10 },
    Shape { start: "xapp-", rest: Rest::Drawn, least: 16 },
    Shape { start: "AKIA", rest: Rest::Capitals, least: 16 },
    Shape { start: "ASIA", rest: Rest::Capitals, least: 16 },
    Shape { start: "AIza", rest: Rest::Drawn, least: 30 },
    Shape { start: "ya29.", rest: Rest::Anything, least: 20 },
    Shape { start: "npm_", rest: Rest::Letters, least: 20 },
    Shape { start: "pypi-", rest: Rest::Drawn, least: 20 },
    Shape { start: "hf_", rest: Rest::Letters, least: 20 },
    Shape { start: "gsk_", rest: Rest::Letters, least: 20 },
    Shape { start: "xai-", rest: Rest::Drawn, least: 20 },
    Shape { start: "SG.", rest: Rest::Parts, least: 20 },
    Shape { start: "eyJ", rest: Rest::Parts, least: 20 },
    Shape { start: "dop_v1_", rest: Rest::Letters, least: 20 },
    Shape { start: "shpat_", rest: Rest::Letters, least: 20 },
    Shape { start: "dckr_pat_", rest: Rest::Anything, least: 20 },
    Shape { start: "hooks.slack.com/services/", rest: Rest::Path, least: 10 },
    Shape { start: "discord.com/api/webhooks/", rest: Rest::Path, least: 10 },
    Shape { start: "AGE-SECRET-KEY-", rest: Rest::Anything, least: 20 },
];

/// Returns how long the key or token is with which this text begins.
pub(super) fn at_start(text: &str) -> Option<usize> {
    SHAPES.iter().find_map(|shape| shape.length(text))
}

/// Tells whether this looks drawn by lot and not chosen by a person: letters and digits that
/// change more than once, or many digits among letters.
pub(super) fn looks_drawn(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_change = |pair: &&[u8]| {
        pair.iter().all(u8::is_ascii_alphanumeric)
            && pair[0].is_ascii_digit() != pair[1].is_ascii_digit()
    };
    let changes = bytes.windows(2).filter(is_change).count();
    letters > 0 && bytes.len() >= 8 && (changes >= 2 || digits >= 4)
}

impl Shape {
    fn length(&self, text: &str) -> Option<usize> {
        let rest = text.strip_prefix(self.start)?;
        let length = rest.bytes().take_while(|byte| self.rest.takes(*byte)).count();
        let body = rest.get(..length)?.trim_end_matches(['.', '-', '/']);
        (body.len() >= self.least && self.rest.fits(body, self.least))
            .then_some(self.start.len() + body.len())
    }
}

impl Rest {
    fn takes(self, byte: u8) -> bool {
        match self {
            Self::Anything | Self::Drawn => is_word(byte),
            Self::Letters => byte.is_ascii_alphanumeric(),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Parts => is_word(byte) || byte == b'.',
            Self::Path => is_word(byte) || byte == b'/',
        }
    }

    fn fits(self, body: &str, least: usize) -> bool {
        match self {
            Self::Anything => true,
            Self::Drawn => body.split(['-', '_']).any(|part| part.len() >= 8 && looks_drawn(part)),
            Self::Letters => body.bytes().any(|byte| !byte.is_ascii_lowercase()),
            Self::Capitals => body.len() == least,
            Self::Parts => body.split('.').count() >= 2 && looks_drawn(body),
            Self::Path => body.contains('/') && looks_drawn(body),
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}
