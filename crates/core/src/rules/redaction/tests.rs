mod conversation;
mod key_blocks;
mod realistic;

use proptest::prelude::*;

use super::*;

/// A text, and the same text after redaction.
const SECRETS: &[(&str, &str)] = &[
    ("key sk-0123456789abcdef01234 end", "key [redacted] end"),
    ("sk-ant-api03-abcdefghijklmnop-AA", "[redacted]"),
    ("sk-proj-AbCdEfGhIjKlMnOp_x-9", "[redacted]"),
    ("(ghp_0123456789abcdefghijABCDEFGHIJ012345)", "([redacted])"),
    ("gho_0123456789abcdefghijABCDEFGHIJ012345", "[redacted]"),
    ("ghs_0123456789abcdefghijABCDEFGHIJ012345", "[redacted]"),
    ("github_pat_11ABCDEFG0_abcdefghijklmnop", "[redacted]"),
    ("use glpat-abcDEF123_-ghiJKL456.", "use [redacted]."),
    ("xoxb-123456789012-abcdef", "[redacted]"),
    ("xoxp-123456789012-abcdef", "[redacted]"),
    ("AKIAIOSFODNN7EXAMPLE,", "[redacted],"),
    ("ASIAIOSFODNN7EXAMPLE", "[redacted]"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[redacted]"),
    ("ya29.a0AfH6SMBx-abcdefghijklmnop", "[redacted]"),
    ("npm_abcdefghijABCDEFGHIJ0123456789abcdef", "[redacted]"),
    ("pypi-AgEIcHlwaS5vcmcCJGE0ZTk2", "[redacted]"),
    ("hf_abcdefghijklmnOPQRSTUVWXYZabcdefgh", "[redacted]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123", "[redacted]"),
    ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "[redacted]"),
    ("rk_test_4eC39HqLyjWDarjtT1zdp7dc", "[redacted]"),
    ("https://hooks.slack.com/services/T000/B000/abc123XYZ", "https://[redacted]"),
    ("Authorization: Bearer abc123def456", "Authorization: Bearer [redacted]"),
    ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted]"),
    (r#"{"Authorization": "token abc123def"}"#, r#"{"Authorization": "token [redacted]"}"#),
    (r#"-H \"Authorization: Bearer abc123def\""#, r#"-H \"Authorization: Bearer [redacted]\""#),
    ("a Bearer abcdefgh12345678 was", "a Bearer [redacted] was"),
    ("X-Api-Key: a1b2c3d4e5f6", "X-Api-Key: [redacted]"),
    ("postgres://me:hunter2@db:5432/x", "postgres://me:[redacted]@db:5432/x"),
    ("redis://:p%40ss@h", "redis://:[redacted]@h"),
    ("https://u:p:q@h/a@b", "https://u:[redacted]@h/a@b"),
    ("API_KEY=abc", "API_KEY=[redacted]"),
    ("export GH_TOKEN=abc; ls", "export GH_TOKEN=[redacted]; ls"),
    ("DB_PASSWORD=hunter2\nNEXT=1", "DB_PASSWORD=[redacted]\nNEXT=1"),
    ("DB_PASSWORD=\"correct horse\"", "DB_PASSWORD=\"[redacted]\""),
    ("MY_SECRET_VALUE='a b'", "MY_SECRET_VALUE='[redacted]'"),
    ("  DB_PASSWORD: swordfish\n", "  DB_PASSWORD: [redacted]\n"),
    ("STRIPE_KEY = \"abc\"", "STRIPE_KEY = \"[redacted]\""),
    ("password: swordfish\nuser: me", "password: [redacted]\nuser: me"),
    ("mysql --password=swordfish", "mysql --password=[redacted]"),
    ("cli --api-key a1b2c3d4e5 run", "cli --api-key [redacted] run"),
    ("?api_key=a1b2c3d4&x=1", "?api_key=[redacted]&x=1"),
    (r#"{"password": "hunter2"}"#, r#"{"password": "[redacted]"}"#),
    (r#"{"clientSecret":"abc","b":1}"#, r#"{"clientSecret":"[redacted]","b":1}"#),
    (r#"{"access_token": "abc123def456"}"#, r#"{"access_token": "[redacted]"}"#),
    (r#"{"apiKey": "a1b2c3d4e5"}"#, r#"{"apiKey": "[redacted]"}"#),
    (r#""{\"password\": \"hunter2\"}""#, r#""{\"password\": \"[redacted]\"}""#),
    (
        r#"{"a":"{\"x\":\"{\\\"password\\\":\\\"p\\\"}\"}"}"#,
        r#"{"a":"{\"x\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"}"#,
    ),
    (r#"{"password": "a\"b"}"#, r#"{"password": "[redacted]"}"#),
    (r#"{"text":"A=1\nAPI_KEY=abc\nB=2"}"#, r#"{"text":"A=1\nAPI_KEY=[redacted]\nB=2"}"#),
    (r#"{"text":"x\nsk-ant-api03-abcdefghijklmnop\ny"}"#, r#"{"text":"x\n[redacted]\ny"}"#),
    ("let password: &str = \"hunter2\";", "let password: &str = \"[redacted]\";"),
    ("os.environ[\"API_KEY\"] = \"abc\"", "os.environ[\"API_KEY\"] = \"[redacted]\""),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfi", "aws_secret_access_key = [redacted]"),
    ("{\"password\": \"hun", "{\"password\": \"[redacted]"),
    ("ключ: API_KEY=значение конец", "ключ: API_KEY=[redacted] конец"),
];

/// Text that redaction does not change.
const ORDINARY: &[&str] = &[
    "",
    "max_tokens: 100",
    "\"max_tokens\": 4096,",
    "MAX_TOKENS=100",
    "MAX_TOKEN=100",
    "token = parser.next()",
    "let token = lexer.next_token();",
    "let token = tokens[0];",
    "if token == \"abc123def456\" {}",
    "token: Token,",
    "pub token: Option<String>,",
    "password: String,",
    "password: string;",
    "password: Option<u64>",
    "def login(user, password=None):",
    "connect(user, password=password)",
    "self.password = password",
    "password = input(\"your password: \")",
    "API_KEY=$OTHER_KEY",
    "API_KEY=${API_KEY:-none}",
    "api_key: ${{ secrets.API_KEY }}",
    "API_KEY=os.environ[\"API_KEY\"]",
    "API_KEY = process.env.API_KEY",
    "API_KEY=<your key>",
    "API_KEY=",
    "API_KEY",
    "{\"command\":\" API_KEY= \"}",
    "[\"API_KEY= \", \"b\"]",
    "The token: a unit of text. The key: what opens a door.",
    "The password is not stored; the secret is out.",
    "Set the secret. Token counts were 123456.",
    "Bearer token authentication is used",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "Authorization: required",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "index 83db48f..bf2a3c1 100644",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "task-0123456789abcdef0123 is done",
    "class sk-fading-circle-container",
    "npm_config_registry npm_lifecycle_event",
    "pypi-publish-workflow-example-job",
    "primary_key: \"user_id\"",
    "\"key\": \"value\"",
    "sort_key = name1",
    "cache_key = \"a1b2c3d4e5\"",
    "\"token\": \"keyword\"",
    "\"password\": {\"type\": \"string\"}",
    "\"type\": \"password\"",
    "\"password\": \"string\"",
    "\"forgot_password\": \"Forgot your password?\"",
    "https://host/a:b@c",
    "https://example.com:8080/x",
    "git@github.com:me/it.git",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "PUBLIC_KEY=abc",
    "self, private_key: ed25519.Ed25519PrivateKey, other",
    "const SHARED_KEY: c_ulong = 0x00000002;",
    "`FOREIGN_KEY`: If a change would",
    "FOREIGN_KEY: If a change would",
    ".. _`RFC6749#Token`: https://host/rfc6749#section-4",
    "pub const AF_KEY: c_int = pseudo_AF_KEY;",
    "pub const REMOVE_ENCRYPTION_KEY: u32 = 3225445912;",
    "SECRET_NAME=shop",
    "PASSWORD_MIN_LENGTH=8",
    "keyboard monkey tokenizer secretary",
    "eyJhbGciOi",
    "AKIA is how they begin, sk- too",
    "[redacted] API_KEY=[redacted]",
    "PWD=/home/me/src OLDPWD=/home/me",
    "--- PASS: TestFoo (0.00s)",
    "PASS: 12 FAIL: 0 pass=12 fail=0",
    "passwd:         files systemd",
    "first_pass = run1 render_pass: main2",
    "\"minipass\": \"^7.1.3\",",
    "to pass '{invalid}' as a value",
    "the pipe identified by `addr`",
    "password: newPassword,",
    "password: hashedPassword",
    "\"session\": \"0198f9d2-0000-7000-8000-000000000001\"",
    "mkdir -p a1b2c3 && ssh -p 2222 me@host && docker run -p 80:80 x",
    "curl -u $USER:$PASS https://host && mysql -p shop && mysql -p$PASS",
    "\"integrity\": \"sha512-q7Xb2LmZ9vTr4KpWc8NyAAAAq7Xb2LmZ9vTr4KpWc8NyAAAAq7Xb2LmZ9vTr4KpWc8NyAAAAq7Xb2LmZ9vTr4A==\",",
    "golang.org/x/net v0.1.0 h1:q7Xb2LmZ9vTr4KpWc8NyAAAAq7Xb2LmZ9vTr4KpWc8N=",
    "checksum = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA",
    "!function(e,t){\"object\"==typeof exports?t(exports):t(e.a={})}(this,function(e){var n=1e3,r=e.key||n;return r})",
    "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
    "0198f9d2-0000-7000-8000-000000000001 0198f9d2000070008000000000000001",
    "node_modules/@babel/plugin-transform-modules-commonjs/lib/index.js",
    "https://host:8080/@scope/pkg https://github.com/a/b/blob/main/c.rs#L10",
    "http://web:8080/logo@2x.png http://web:3000/@vite/client http://web:8080/react@next",
    "http://web:/@scope/pkg file://a:/b c@d",
    "fmt.Sprintf(\"%s:%s@tcp(%s)/%s\", user, pass, host, name) jdbc:oracle:thin:@//db:1521/shop",
    "file_path=a1b2c3d4e5f6 let pattern: Regex1 = x; compat: v1.2.3b4 shopping=1a2b3c4d5e",
    "sqlplus /nolog sqlplus / as sysdba sqlplus @run/all.sql",
    "the plugin is identified with `name` and stands by 'itself'",
    "${API_KEY:-none} ${DB_PASS:-} ${DB_PASS:-$OTHER} ${DB_PASS:?is missing} ${TOKEN_FILE:-x}",
    "const pass = options.password || 'anonymous'; key = e.key || \"Enter\"",
    "getPassword(\"Your password: \") token(\"identifier\") hasKey(\"name2\") password(\"field\")",
    "password=this will fail soon enough",
    "const SMITHY_CONTEXT_KEY = \"__smithy_context\"; var ACCESSKEY=\"N\"; x = {A_TOKEN: \"h\"}",
    "clientSecret: \"client_secret\", \"design_tokens\": \"camelCase\", STATE_KEY = 'nextAuthState'",
    "docker://alpine:3.18@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "Cookie: theme=dark; lang=en",
    "Set-Cookie: foo=bar; Path=/",
    "api-6d4cf56db6-abcde 1/1 Running",
    "root:*:0:0:System Administrator:/var/root:/bin/sh",
    "at src/lib.rs:5432:10 in main",
    "-----END CERTIFICATE-----",
    "s.replace(a, b); s.addEventListenerForEverything(); s.registerHandlersOfType2x()",
    "export PATH=/usr/local/bin:$PATH TERM=xterm-256color",
    "使用 token 和 password 的说明",
];

#[test]
fn secrets_of_every_shape_are_removed() {
    let wrong = SECRETS.iter().filter(|(text, left)| redact(text) != *left);
    let wrong: Vec<_> = wrong.map(|(text, _)| (*text, redact(text))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn ordinary_text_is_unchanged() {
    let wrong = ORDINARY.iter().filter(|text| matches!(redact(text), Cow::Owned(_)));
    let wrong: Vec<_> = wrong.map(|text| (*text, redact(text))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const BODY: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

#[test]
fn private_keys_are_removed_if_whole_escaped_or_cut_off() {
    let whole = format!(
        "a -----BEGIN RSA PRIVATE KEY-----\n{BODY}\nAb+/=\n-----END RSA PRIVATE KEY----- b"
    );
    assert_eq!(redact(&whole), "a [redacted] b");
    let escaped = whole.replace('\n', "\\n");
    assert_eq!(redact(&escaped), "a [redacted] b");
    assert_eq!(redact(&escaped.replace('\\', "\\\\")), "a [redacted] b");
    let cut = format!("a -----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n{BODY}\nb3Blb");
    assert_eq!(redact(&cut), "a [redacted]");
    assert_eq!(redact(&cut.replace('\n', "\\n")), "a [redacted]");
    let numbered = format!("1\t-----BEGIN PRIVATE KEY-----\n     2\t{BODY}\n     3\t{BODY}\n");
    assert!(!redact(&numbered).contains("MIIE"));
    // The beginning of the next secret is not the last line of the key.
    let next = format!("-----BEGIN PRIVATE KEY-----\n{BODY}\nsk-ant-api03-{BODY}\n");
    assert_eq!(redact(&next), "[redacted]\n[redacted]\n");
    let prose = "it looks for -----BEGIN PRIVATE KEY----- at the start";
    assert_eq!(redact(prose), prose);
}

#[test]
fn all_values_of_an_env_file_are_removed() {
    let file =
        "# shop\nNAME=shop\nexport PORT=80 # web\nEMPTY=\nQ=\"a b\"\nM=\"one\ntwo\"\nLAST = x\n";
    let left = "# shop\nNAME=[redacted]\nexport PORT=[redacted]\nEMPTY=\nQ=\"[redacted]\"\nM=\"[redacted]\"\nLAST = [redacted]\n";
    assert_eq!(redact_assignments(file), left);
    let shown = "     1→NAME=shop\n     2\tPORT=80\n.env:3:A=b\n+C=d";
    assert_eq!(
        redact_assignments(shown),
        "     1→NAME=[redacted]\n     2\tPORT=[redacted]\n.env:3:A=[redacted]\n+C=[redacted]"
    );
    assert_eq!(redact_assignments(r#"{"o":"A=1\nB=2"}"#), r#"{"o":"A=[redacted]\nB=[redacted]"}"#);
    let key =
        format!("K=-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END PRIVATE KEY-----\nA=1");
    assert_eq!(redact_assignments(&key), "K=[redacted]\nA=[redacted]");
    assert!(matches!(redact_assignments("no such file"), Cow::Borrowed(_)));
}

/// `make bench` measures that the time for longer texts is linear in their length.
#[test]
fn text_of_repeated_hints_gets_at_most_twice_as_long() {
    let starts = [
        "token=",
        "TOKEN=f(",
        "eyJ.",
        "sk-",
        "password=\"",
        "-----BEGIN PRIVATE KEY-----",
        "key",
        "://a:",
        "://a:1/@",
        "://a:@@@@@@@@@@@@@@@@@@@@",
        "a:abcdefghijkl@tcp(",
        ":@tcp(",
        "${TOKEN:-",
        "env.TOKEN||'",
        "Authorization: Digest ",
        "identified with ",
        "jdbc:oracle:",
        "jdbc:oracle:/@",
        "A=",
        "token=\\\"",
        "Bearer ",
        "password>",
        "<password>",
        "curl -u ",
        ":*:",
        "cookie:",
        "-----END PRIVATE KEY-----",
        "\\n-----END PRIVATE KEY-----",
        "MIIE\\n12:-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n12:",
        "-----BEGIN PRIVATE KEY-----\\\\",
        "\tTRUE\t",
        "echo x | sudo -S ",
    ];
    for start in starts {
        let text = start.repeat(1_000 / start.len());
        assert!(redact(&text).len() <= text.len() * 2, "{start}");
        assert!(redact_assignments(&text).len() <= text.len() * 2, "{start}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn removed_value_is_gone_and_second_redaction_changes_nothing(
        before in "[a-z .,\\n\"'=:ü]{0,20}",
        name in "[A-Z]{1,6}_(KEY|TOKEN|SECRET|PASSWORD)",
        value in "[a-z0-9]{8,30}x7q",
        after in "[a-z .\\n\"ü]{0,20}",
    ) {
        let text = format!("{before} {name}={value} {after}");
        let left = redact(&text).into_owned();
        prop_assert!(!left.contains(&value), "{left}");
        prop_assert_eq!(redact(&left), left.as_str());
    }

    #[test]
    fn redacted_arguments_of_a_call_are_valid_json(
        before in "[a-z \"\\\\\nü;]{0,12}",
        name in "(API_KEY=|--password=|password: |Authorization: Bearer |sk-ant-api03-|X_TOKEN=\"|https://u:)",
        value in "[a-zA-Z0-9+/=@,;\\\\)}\"]{0,24}",
        after in "[a-z \"\\\\\nü;]{0,12}",
    ) {
        let command = format!("{before} {name}{value} {after}");
        let call = serde_json::json!({ "command": command }).to_string();
        let left = redact(&call);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&left).is_ok(), "{call}\n{left}");
    }

    #[test]
    fn redaction_never_panics(text in "(\\PC|\\\\|\"|'|sk-|ghp_|-----BEGIN|PRIVATE KEY|-----|://|@|:|=|TOKEN|password|Bearer |Authorization|\\n|ü| |-----END|MIIEvQIBADANBgkqhkiG9w0B|12:|@tcp\\(|/|jdbc:oracle:|\\$\\{|:-|\\}| Digest |response=|identified with| by |\\|\\|){0,40}") {
        let once = redact(&text).into_owned();
        redact(&once);
        redact_assignments(&text);
    }
}
