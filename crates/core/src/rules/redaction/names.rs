//! Whether the name of a value indicates a secret.

use crate::rules::secrets::is_secret_name;

/// Words that indicate a secret anywhere in a name.
const SECRET_WORDS: [&str; 5] = ["secret", "password", "passwd", "passphrase", "passwort"];
/// Last words of names of passwords. They are ordinary words, too.
const SHORT_PASSWORD_WORDS: [&str; 7] =
    ["pass", "pwd", "pw", "psw", "passcode", "rootpw", "bindpw"];
/// Words before `key` that indicate a key for access.
const WORDS_BEFORE_KEY: [&str; 24] = [
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "signing",
    "ssh",
    "master",
    "account",
    "preshared",
    "shared",
    "client",
    "subscription",
    "storage",
    "hmac",
    "aes",
    "deploy",
    "license",
    "service",
    "server",
    "admin",
    "webhook",
    "app",
    "application",
];
/// Last words of names whose values are secret only if they look like secrets.
const POSSIBLE_SECRET_WORDS: [&str; 22] = [
    "auth",
    "cred",
    "creds",
    "credential",
    "credentials",
    "cookie",
    "cookies",
    "sig",
    "pat",
    "jwt",
    "psk",
    "bearer",
    "otp",
    "pin",
    "sessionid",
    "sid",
    "tokens",
    "privkey",
    "apitoken",
    "salt",
    "authtoken",
    "masterauth",
];
/// Last words of names whose values describe a secret but do not contain it.
const METADATA_WORDS: [&str; 70] = [
    "name",
    "url",
    "uri",
    "path",
    "file",
    "dir",
    "length",
    "len",
    "size",
    "count",
    "ttl",
    "age",
    "type",
    "policy",
    "host",
    "port",
    "enabled",
    "field",
    "label",
    "prompt",
    "min",
    "max",
    "id",
    "ids",
    "names",
    "arn",
    "endpoint",
    "hint",
    "reset",
    "rule",
    "rules",
    "regex",
    "pattern",
    "error",
    "errors",
    "expiry",
    "expires",
    "expiration",
    "version",
    "format",
    "provider",
    "manager",
    "store",
    "class",
    "index",
    "limit",
    "usage",
    "status",
    "state",
    "strength",
    "mode",
    "method",
    "algorithm",
    "alg",
    "kind",
    "scope",
    "scopes",
    "issuer",
    "source",
    "ref",
    "input",
    "required",
    "parameter",
    "param",
    "header",
    "prefix",
    "suffix",
    "env",
    "var",
    "cmd",
];
/// Last words that distinguish several values of one kind.
const DISTINGUISHING_WORDS: [&str; 29] = [
    "data",
    "value",
    "val",
    "string",
    "str",
    "text",
    "b64",
    "base64",
    "raw",
    "plain",
    "plaintext",
    "encoded",
    "default",
    "prod",
    "production",
    "dev",
    "development",
    "test",
    "testing",
    "staging",
    "stage",
    "live",
    "local",
    "old",
    "new",
    "current",
    "backup",
    "primary",
    "secondary",
];
/// Words before `pass` in names that are written as one word, such as `dbpass`.
const WORDS_BEFORE_PASS: [&str; 24] = [
    "db", "user", "smtp", "mail", "root", "admin", "ssh", "ftp", "sql", "my", "ldap", "require",
    "store", "key", "login", "proxy", "imap", "redis", "auth", "wp", "app", "svc", "pg", "vnc",
];
/// Words before `pass` that indicate a pass of a program and not a password.
const WORDS_BEFORE_PROGRAM_PASS: [&str; 24] = [
    "first",
    "second",
    "third",
    "last",
    "final",
    "next",
    "one",
    "two",
    "single",
    "multi",
    "render",
    "shadow",
    "compute",
    "opt",
    "optimization",
    "analysis",
    "main",
    "each",
    "per",
    "this",
    "sub",
    "pre",
    "post",
    "compiler",
];

/// How strongly a name indicates a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// The value is secret if it looks like a secret.
    Possible,
    /// The value is a password unless the name is used as an ordinary word. The context decides.
    Weak,
    /// The value is a password, but programs use such names for other values, too.
    Likely,
    /// The name is in uppercase, as the names of environment variables are.
    Constant,
}

/// What a name indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) strength: Strength,
    pub(super) kind: &'static str,
}

/// Returns what a name indicates about its value. `None` if it does not indicate a secret.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let is_constant = name.bytes().all(|byte| !byte.is_ascii_lowercase()) && !name.contains('-');
    let parts = kebab_case(name);
    let parts = without_distinguishing_words(&parts);
    let last = parts.rsplit('-').next().unwrap_or_default();
    if METADATA_WORDS.contains(&last) || parts.is_empty() {
        return None;
    }
    let (strength, kind) = of_password(parts, last, is_constant)
        .or_else(|| of_key(parts, last, is_constant))
        .or_else(|| {
            POSSIBLE_SECRET_WORDS.contains(&last).then_some((Strength::Possible, kind(last)))
        })?;
    Some(Meaning { strength, kind })
}

/// Returns whether the value of a variable with this name is secret, whatever it looks like.
pub(super) fn is_secret_variable(name: &str) -> bool {
    let is_folder = matches!(name, "PWD" | "OLDPWD");
    !is_folder && meaning(name).is_some_and(|it| it.strength != Strength::Possible)
}

/// Returns whether the value of a variable with this name is secret if it looks like a secret.
pub(super) fn may_be_secret_variable(name: &str) -> bool {
    meaning(name).is_some_and(|it| it.strength == Strength::Possible)
}

fn of_password(parts: &str, last: &str, is_constant: bool) -> Option<(Strength, &'static str)> {
    let is_last = SECRET_WORDS.iter().any(|word| last.ends_with(word));
    if SECRET_WORDS.iter().any(|word| parts.contains(word)) {
        let small = if is_last { Strength::Likely } else { Strength::Possible };
        return Some((if is_constant { Strength::Constant } else { small }, kind(parts)));
    }
    let before = parts.strip_suffix(last).map_or("", |rest| rest.trim_end_matches('-'));
    let before_last = before.rsplit('-').next().unwrap_or_default();
    let is_short = SHORT_PASSWORD_WORDS.contains(&last)
        || last.strip_suffix("pass").is_some_and(|owner| WORDS_BEFORE_PASS.contains(&owner));
    if !is_short || WORDS_BEFORE_PROGRAM_PASS.contains(&before_last) {
        return None;
    }
    let is_compound = !before.is_empty() || !SHORT_PASSWORD_WORDS.contains(&last);
    Some(match (is_compound, is_constant) {
        (true, true) if last != "pw" => (Strength::Constant, "password"),
        _ => (Strength::Weak, "password"),
    })
}

fn of_key(parts: &str, last: &str, is_constant: bool) -> Option<(Strength, &'static str)> {
    let is_key = matches!(last, "key" | "keys") && !parts.contains("public") && parts.len() > 4;
    let before = parts.strip_suffix(last).map_or("", |rest| rest.trim_end_matches('-'));
    let before_last = before.rsplit('-').next().unwrap_or_default();
    let is_access_key =
        is_key && last == "key" && (is_constant || WORDS_BEFORE_KEY.contains(&before_last));
    let is_joined = [
        "privatekey",
        "presharedkey",
        "secretkey",
        "accesskey",
        "accountkey",
        "masterkey",
        "sharedaccesskey",
        "authkey",
    ]
    .contains(&last);
    let may = if is_constant { Strength::Constant } else { Strength::Possible };
    (is_secret_name(parts) || is_access_key || is_joined).then_some((may, kind(last)))
}

fn kind(words: &str) -> &'static str {
    let kinds = [
        ("pass", "password"),
        ("pw", "password"),
        ("token", "token"),
        ("jwt", "token"),
        ("key", "key"),
        ("cookie", "cookie"),
        ("sid", "cookie"),
        ("session", "cookie"),
        ("secret", "secret"),
        ("sig", "signature"),
    ];
    kinds.iter().find(|(word, _)| words.contains(word)).map_or("credential", |(_, kind)| kind)
}

/// Returns the name without the last words that distinguish several values of one kind.
fn without_distinguishing_words(parts: &str) -> &str {
    let mut parts = parts.trim_matches('-');
    while let Some((rest, last)) = parts.rsplit_once('-') {
        let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number && !DISTINGUISHING_WORDS.contains(&last) {
            break;
        }
        parts = rest.trim_end_matches('-');
    }
    parts.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

/// Returns the words of a name in lowercase, with `-` between them.
pub(super) fn kebab_case(name: &str) -> String {
    let mut parts = String::with_capacity(name.len() + 4);
    let mut was_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && was_small {
            parts.push('-');
        }
        was_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        let is_gap = letter == '_' || letter == '.';
        parts.push(if is_gap { '-' } else { letter.to_ascii_lowercase() });
    }
    parts
}
