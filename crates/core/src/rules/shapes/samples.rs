//! Invented secrets for tests. They have the format of real ones and are generated when a test
//! runs.

/// Fills a template: replaces a placeholder such as `{a20}` by twenty random letters and digits.
/// The letter is the class of characters: `a` letters and digits, `h` hexadecimal digits, `d`
/// digits, `l` lowercase letters and digits, `U` uppercase letters and digits, `w` characters of a
/// word, `b` and `B` base64. `{u}` stands for a UUID.
pub(in crate::rules) fn fill(template: &str) -> String {
    let mut state = template.bytes().fold(0x2545_F491_4F6C_DD1D_u64, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        rest = after;
        let Some((class, count, after)) = placeholder(after) else {
            out.push('{');
            continue;
        };
        rest = after;
        let lengths: &[usize] = if class == "u" { &[8, 4, 4, 4, 12] } else { &[count] };
        let class = if class == "u" { "h" } else { class };
        let parts: Vec<String> =
            lengths.iter().map(|length| characters(class, *length, &mut state)).collect();
        out.push_str(&parts.join("-"));
    }
    out + rest
}

/// Parses the text after `{`. `None` if it is not a placeholder.
fn placeholder(text: &str) -> Option<(&str, usize, &str)> {
    let (inside, after) = text.split_once('}')?;
    if inside == "u" {
        return Some((inside, 0, after));
    }
    let (class, count) = inside.split_at_checked(1)?;
    let is_class = "ahdlUwbB".contains(class);
    count.parse().ok().filter(|_| is_class).map(|count| (class, count, after))
}

fn characters(class: &str, count: usize, state: &mut u64) -> String {
    let small = "abcdefghijklmnopqrstuvwxyz";
    let (large, digits) = (small.to_uppercase(), "0123456789");
    let alphabet = match class {
        "a" => format!("{small}{large}{digits}"),
        "w" => format!("{small}{large}{digits}_"),
        "h" => "abcdef0123456789".to_owned(),
        "d" => digits.to_owned(),
        "l" => format!("{small}{digits}"),
        "U" => format!("{large}{digits}"),
        "b" | "B" => format!("{small}{large}{digits}+/"),
        _ => panic!("`{class}` is not a class of characters"),
    };
    let letters = alphabet.as_bytes();
    let mut draw = |_| {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        let place = usize::try_from(*state % letters.len() as u64).expect("a small number");
        char::from(letters[place])
    };
    let drawn: String = (0..count).map(&mut draw).collect();
    // A punctuation character at an end could be mistaken for the punctuation of a sentence.
    drawn.trim_matches(['_', '+', '/']).to_owned()
        + &"7".repeat(count - drawn.trim_matches(['_', '+', '/']).len())
}
