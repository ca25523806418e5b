//! SHA-256 (FIPS 180-4): the name of a text that nobody can give to another text.

const BLOCK: usize = 64;

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const ROUNDS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// The same of the square roots of the first 8 primes.
const BEGIN: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Returns the digest of these bytes, in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % BLOCK != BLOCK - 8 {
        padded.push(0);
    }
    padded.extend(((bytes.len() as u64) * 8).to_be_bytes());
    let state = padded.chunks_exact(BLOCK).fold(BEGIN, compress);
    state.iter().map(|word| format!("{word:08x}")).collect()
}

fn compress(state: [u32; 8], block: &[u8]) -> [u32; 8] {
    let mut words: Vec<u32> = block
        .chunks_exact(4)
        .map(|bytes| bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)))
        .collect();
    for at in 16..ROUNDS.len() {
        let (old, new) = (words[at - 15], words[at - 2]);
        let old = old.rotate_right(7) ^ old.rotate_right(18) ^ old >> 3;
        let new = new.rotate_right(17) ^ new.rotate_right(19) ^ new >> 10;
        let sum = words[at - 16].wrapping_add(old).wrapping_add(words[at - 7]).wrapping_add(new);
        words.push(sum);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    for (round, word) in ROUNDS.iter().zip(words) {
        let mixed = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = e & f ^ !e & g;
        let first = h.wrapping_add(mixed).wrapping_add(chosen);
        let first = first.wrapping_add(*round).wrapping_add(word);
        let mixed = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = mixed.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    let mixed = [a, b, c, d, e, f, g, h];
    std::array::from_fn(|at| state[at].wrapping_add(mixed[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let million = "a".repeat(1_000_000);
        let table = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (&million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ];
        for (text, expected) in table {
            assert_eq!(hex(text.as_bytes()), expected);
        }
    }
}
