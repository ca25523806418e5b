//! Secrets that are found only with information from the whole conversation.

use super::super::*;
use crate::rules::shapes::samples::fill;

fn redactor_with(file: &str, environment: &[(&str, &str)]) -> Redactor {
    let mut known = KnownSecrets::default();
    known.add_variables(file);
    known.add_environment(environment.iter().copied());
    Redactor::new(known)
}

#[test]
fn values_of_an_env_file_are_removed_from_prose() {
    let file = "DB_PASS=swordfish\nSALT_X=\"aK3 9zQ7vB1m\"\nNODE_ENV=production\nPORT=3000\nBUCKET=q7Xb2LmZ9vTr4KpW\nREPO=https://u:hunter2x@host/a\n";
    let mut redactor = redactor_with(file, &[]);
    let table = [
        ("log in with swordfish, then", "log in with [redacted], then"),
        ("\"swordfish\" and swordfishes", "\"[redacted]\" and swordfishes"),
        ("production runs on 3000", "production runs on 3000"),
        ("s3://q7Xb2LmZ9vTr4KpW/a", "s3://[redacted]/a"),
        ("it is hunter2x now", "it is [redacted] now"),
        ("c3dvcmRmaXNo in base64", "[redacted] in base64"),
    ];
    for (text, left) in table {
        assert_eq!(redactor.redact(text), left, "{text}");
    }
    assert!(redactor.removed().by_kind()["env-file-value"] >= 5);
}

#[test]
fn values_of_secret_environment_variables_are_removed_in_every_encoding() {
    let environment = [
        ("SHOP_TOKEN", "open:sesame/4711 \"x\""),
        ("HOME", "/home/me"),
        ("EDITOR", "vim-with-plugins-99"),
        ("API_KEY", "abc"),
    ];
    let mut redactor = redactor_with("", &environment);
    let text =
        "a open:sesame/4711 \"x\" b open%3Asesame%2F4711%20%22x%22 c open:sesame/4711 \\\"x\\\" d";
    assert_eq!(redactor.redact(text), "a [redacted] b [redacted] c [redacted] d");
    assert_eq!(
        redactor.redact("/home/me vim-with-plugins-99 abc"),
        "/home/me vim-with-plugins-99 abc"
    );
    assert_eq!(redactor.removed().total(), 3);
}

#[test]
fn known_value_of_five_kilobytes_is_removed_to_its_end() {
    let value = fill("{a5000}");
    let mut redactor = redactor_with("", &[("SHOP_TOKEN", &value)]);
    assert_eq!(redactor.redact(&format!("so {value}, then")), "so [redacted] then");
    assert_eq!(redactor.redact(&format!("so '{value}'")), "so '[redacted]'");
}

#[test]
fn debug_output_contains_no_known_values() {
    let redactor = redactor_with("DB_PASS=swordfish", &[("API_TOKEN", "open-sesame-4711")]);
    let shown = format!("{redactor:?}");
    assert!(!shown.contains("swordfish") && !shown.contains("4711"), "{shown}");
}

#[test]
fn value_removed_by_its_name_is_removed_later_without_the_name() {
    let mut redactor = Redactor::default();
    let value = fill("{a20}");
    redactor.redact(&format!("DB_PASSWORD={value}"));
    assert_eq!(redactor.redact(&format!("so {value} it is")), "so [redacted] it is");
    let mut redactor = Redactor::default();
    redactor.redact_result("NAME=shop\nDB_PASS=swordfish\n", true);
    assert_eq!(redactor.redact("shop and swordfish"), "shop and [redacted]");
}

#[test]
fn private_key_in_several_results_is_removed_from_all_of_them() {
    let line = || fill("{b64}");
    let begin = format!("-----{} RSA PRIVATE KEY-----", "BEGIN");
    let end = format!("-----{} RSA PRIVATE KEY-----", "END");
    let mut redactor = Redactor::default();
    let first = format!("{begin}\n{}\n{}\n", line(), line());
    let middle = format!("{}\n{}\n", line(), line());
    let last = format!("{}\nAb3dE=\n{end}\nand more words\n", line());
    assert_eq!(redactor.redact_result(&first, false), "[redacted]\n");
    assert_eq!(redactor.redact_result(&middle, false), "[redacted]\n");
    assert_eq!(redactor.redact_result(&last, false), "[redacted]\nand more words\n");
    assert_eq!(redactor.redact_result("plain words", false), "plain words");
    // The last part alone is removed, too.
    assert_eq!(redact(&last), "[redacted]\nand more words\n");
    let numbered = format!("     7\t{}\n     8\tAb3dE=\n     9\t{end}\n", line());
    assert_eq!(redact(&numbered), "     7\t[redacted]\n");
}

#[test]
fn rest_of_a_token_in_the_next_result_is_removed() {
    let token = fill("ghp_{a36}");
    let mut redactor = Redactor::default();
    let (first, second) = token.split_at(22);
    assert_eq!(redactor.redact_result(first, false), "[redacted]");
    assert_eq!(redactor.redact_result(&format!("{second}\nnext"), false), "[redacted]\nnext");
    assert_eq!(redactor.redact_result("0123abcd next", false), "0123abcd next");
}

#[test]
fn removals_are_counted_by_kind() {
    let mut redactor = Redactor::default();
    redactor.redact(&fill("ghp_{a36} and ghp_{a36} DB_PASS=swordfish"));
    let kinds = redactor.removed().by_kind();
    assert_eq!(kinds, [("github-token".to_owned(), 2), ("password".to_owned(), 1)].into());
}
