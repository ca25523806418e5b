//! Finds keywords, strings, comments and numbers in lines of code, for their colours.
//!
//! A line is read once, from its start to its end, in constant memory: lines come from repositories,
//! which may contain anything. A language that is not known has no colours.

use std::ops::Range;
use std::path::Path;

/// A longer line has no colours.
const MAX_LINE_BYTES: usize = 2000;

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeTokenKind {
    Keyword,
    /// A name that begins with a capital letter.
    TypeName,
    Text,
    Number,
    Comment,
}

/// A part of a line, in bytes.
pub(crate) type CodeToken = (CodeTokenKind, Range<usize>);

/// How the code of a language looks.
#[derive(Debug)]
pub(crate) struct CodeLanguage {
    keywords: &'static str,
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    /// Quotes of texts that end with their line.
    quotes: &'static str,
    /// Quotes of texts that may have several lines.
    long_quotes: &'static [&'static str],
    /// Whether `'` is also the beginning of another thing than a character.
    has_lifetimes: bool,
}

const PLAIN: CodeLanguage = CodeLanguage {
    keywords: "",
    line_comments: &[],
    block_comment: None,
    quotes: "\"'",
    long_quotes: &[],
    has_lifetimes: false,
};

const C_LIKE: CodeLanguage =
    CodeLanguage { line_comments: &["//"], block_comment: Some(("/*", "*/")), ..PLAIN };

static RUST: CodeLanguage = CodeLanguage {
    keywords: "as async await break const continue crate dyn else enum extern false fn for if impl \
               in let loop match mod move mut pub ref return self Self static struct super trait \
               true type unsafe use where while",
    has_lifetimes: true,
    ..C_LIKE
};

static C: CodeLanguage = CodeLanguage {
    keywords: "auto bool break case catch char class const constexpr continue default delete do \
               double else enum extern false float for goto if inline int long namespace new \
               nullptr operator private protected public return short signed sizeof static struct \
               switch template this throw true try typedef typename union unsigned using virtual \
               void volatile while",
    ..C_LIKE
};

static JVM: CodeLanguage = CodeLanguage {
    keywords: "abstract as async await boolean break by case catch class const continue data def \
               default do double else enum extends extension false final finally float for fun \
               func guard if implements import in init int interface internal is let long match \
               namespace new null object open override package private protected public record \
               return sealed static string struct super switch this throw throws trait true try \
               typealias using val var void when where while with yield",
    long_quotes: &["\"\"\""],
    ..C_LIKE
};

static SCRIPT: CodeLanguage = CodeLanguage {
    keywords: "any as async await boolean break case catch class const continue declare default \
               delete do else enum export extends false finally for from function get if \
               implements import in instanceof interface keyof let new null number of private \
               protected public readonly return satisfies set static string super switch this \
               throw true try type typeof undefined unknown var void while yield",
    long_quotes: &["`"],
    ..C_LIKE
};

static GO: CodeLanguage = CodeLanguage {
    keywords: "any bool break byte case chan const continue default defer else error fallthrough \
               false float64 for func go goto if import int int64 interface map nil package range \
               return rune select string struct switch true type uint var",
    long_quotes: &["`"],
    ..C_LIKE
};

static PHP: CodeLanguage = CodeLanguage {
    keywords: "abstract array as break case catch class const continue default do echo else elseif \
               extends false final finally fn for foreach function if implements include interface \
               match namespace new null private protected public readonly require return static \
               switch throw trait true try use var while yield",
    line_comments: &["//", "#"],
    ..C_LIKE
};

static STYLES: CodeLanguage = CodeLanguage { keywords: "important", ..C_LIKE };

static PYTHON: CodeLanguage = CodeLanguage {
    keywords: "and as assert async await break case class continue def del elif else except False \
               finally for from global if import in is lambda match None nonlocal not or pass \
               raise return self True try while with yield",
    line_comments: &["#"],
    long_quotes: &["\"\"\"", "'''"],
    ..PLAIN
};

static RUBY: CodeLanguage = CodeLanguage {
    keywords: "alias and begin break case class def do else elsif end ensure false for if in module \
               next nil not or raise require rescue return self super then true unless until when \
               while yield",
    line_comments: &["#"],
    ..PLAIN
};

static SHELL: CodeLanguage = CodeLanguage {
    keywords: "case do done elif else esac exit export fi for function if in local readonly return \
               set shift source then trap until while",
    line_comments: &["#"],
    ..PLAIN
};

static SETTINGS: CodeLanguage = CodeLanguage {
    keywords: "false no null off on true yes FROM RUN COPY ADD CMD ENTRYPOINT ENV ARG WORKDIR",
    line_comments: &["#"],
    ..PLAIN
};

static JSON: CodeLanguage =
    CodeLanguage { keywords: "false null true", line_comments: &["//"], quotes: "\"", ..PLAIN };

static SQL: CodeLanguage = CodeLanguage {
    keywords: "ALTER AND AS ASC BEGIN BY CASCADE COLUMN COMMIT CONSTRAINT CREATE DEFAULT DELETE DESC \
               DISTINCT DROP ELSE END EXISTS FOREIGN FROM GROUP HAVING IF IN INDEX INNER INSERT INTO \
               IS JOIN KEY LEFT LIMIT NOT NULL ON OR ORDER PRIMARY REFERENCES SELECT SET TABLE THEN \
               TRIGGER UNION UNIQUE UPDATE VALUES VIEW WHEN WHERE WITH",
    line_comments: &["--"],
    block_comment: Some(("/*", "*/")),
    ..PLAIN
};

static LUA: CodeLanguage = CodeLanguage {
    keywords: "and break case class data deriving do else elseif end false for function if import \
               in instance let local module nil not of or repeat return then true type until \
               where while",
    line_comments: &["--"],
    ..PLAIN
};

static MARKUP: CodeLanguage =
    CodeLanguage { block_comment: Some(("<!--", "-->")), quotes: "\"", ..PLAIN };

/// Returns the language of a file by its name. `None` if it is not known.
pub(crate) fn language_of(path: &str) -> Option<&'static CodeLanguage> {
    let path = Path::new(path);
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let end = path.extension().and_then(|it| it.to_str()).unwrap_or(&name).to_ascii_lowercase();
    Some(match end.as_str() {
        "rs" => &RUST,
        "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "ino" | "m" | "proto" | "zig" => &C,
        "java" | "kt" | "kts" | "scala" | "swift" | "cs" | "dart" | "groovy" | "gradle" => &JVM,
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => &SCRIPT,
        "go" => &GO,
        "php" => &PHP,
        "css" | "scss" | "less" => &STYLES,
        "py" | "pyi" => &PYTHON,
        "rb" | "rake" | "gemfile" => &RUBY,
        "sh" | "bash" | "zsh" | "fish" | "bashrc" => &SHELL,
        "toml" | "yaml" | "yml" | "ini" | "conf" | "cfg" | "env" | "lock" | "tf" | "nix"
        | "dockerfile" | "makefile" | "mk" => &SETTINGS,
        "json" | "jsonc" | "json5" => &JSON,
        "sql" => &SQL,
        "lua" | "hs" | "elm" => &LUA,
        "html" | "htm" | "xml" | "svg" => &MARKUP,
        _ => return None,
    })
}

/// What continues from one line to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CodeState {
    #[default]
    Code,
    Comment,
    /// In a text that ends with this quote.
    Text(&'static str),
}

impl CodeState {
    /// Returns the coloured parts of a line, and continues after it.
    pub(crate) fn tokens(&mut self, language: &'static CodeLanguage, line: &str) -> Vec<CodeToken> {
        if line.len() > MAX_LINE_BYTES {
            return Vec::new();
        }
        let mut tokens = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let rest = line.get(at..).unwrap_or_default();
            let (kind, length) = self.next(language, rest);
            if let Some(kind) = kind {
                tokens.push((kind, at..at + length));
            }
            at += length.max(1);
        }
        tokens
    }

    /// Returns the part at the beginning of a text that is not empty, and its length.
    fn next(
        &mut self,
        language: &'static CodeLanguage,
        rest: &str,
    ) -> (Option<CodeTokenKind>, usize) {
        match (*self, language.block_comment) {
            (Self::Comment, Some((_, end))) => {
                let found = rest.find(end);
                *self = if found.is_some() { Self::Code } else { Self::Comment };
                return (
                    Some(CodeTokenKind::Comment),
                    found.map_or(rest.len(), |at| at + end.len()),
                );
            }
            (Self::Text(quote), _) => {
                let found = rest.find(quote);
                *self = if found.is_some() { Self::Code } else { Self::Text(quote) };
                return (
                    Some(CodeTokenKind::Text),
                    found.map_or(rest.len(), |at| at + quote.len()),
                );
            }
            _ => {}
        }
        if language.line_comments.iter().any(|it| rest.starts_with(it)) {
            return (Some(CodeTokenKind::Comment), rest.len());
        }
        if let Some((begin, _)) =
            language.block_comment.filter(|(begin, _)| rest.starts_with(begin))
        {
            *self = Self::Comment;
            return (Some(CodeTokenKind::Comment), begin.len());
        }
        if let Some(quote) = language.long_quotes.iter().find(|it| rest.starts_with(**it)) {
            *self = Self::Text(quote);
            return (Some(CodeTokenKind::Text), quote.len());
        }
        let first = rest.chars().next().unwrap_or(' ');
        if language.quotes.contains(first) {
            return quoted(language, rest, first);
        }
        word(language, rest, first)
    }
}

/// Returns a text in quotes. It ends with its line at the latest.
fn quoted(language: &CodeLanguage, rest: &str, quote: char) -> (Option<CodeTokenKind>, usize) {
    // 'a and '_ are lifetimes, '\n' and 'ä' are characters.
    let is_lifetime = language.has_lifetimes
        && quote == '\''
        && !rest.starts_with("'\\")
        && rest.chars().nth(2) != Some('\'');
    if is_lifetime {
        return (None, 1);
    }
    let mut is_escaped = false;
    let mut inside = rest.char_indices().skip(1);
    let end = inside.find(|(_, character)| {
        let is_end = *character == quote && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        is_end
    });
    let length = end.map_or(rest.len(), |(at, _)| at + quote.len_utf8());
    (Some(CodeTokenKind::Text), length)
}

/// Returns a keyword, a number, another word, or one character.
fn word(language: &CodeLanguage, rest: &str, first: char) -> (Option<CodeTokenKind>, usize) {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    if !is_part(first) {
        return (None, first.len_utf8());
    }
    let length = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
    let word = rest.get(..length).unwrap_or_default();
    let has_small = || word.chars().any(char::is_lowercase);
    let kind = if first.is_ascii_digit() {
        Some(CodeTokenKind::Number)
    } else if language.keywords.split_whitespace().any(|it| it == word) {
        Some(CodeTokenKind::Keyword)
    } else if first.is_uppercase() && has_small() && !language.keywords.is_empty() {
        Some(CodeTokenKind::TypeName)
    } else {
        None
    };
    (kind, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parts of a line as words such as `k:let`.
    fn shown(path: &str, state: &mut CodeState, line: &str) -> Vec<String> {
        let language = language_of(path).unwrap();
        let letter = |kind| match kind {
            CodeTokenKind::Keyword => 'k',
            CodeTokenKind::TypeName => 't',
            CodeTokenKind::Text => 's',
            CodeTokenKind::Number => 'n',
            CodeTokenKind::Comment => 'c',
        };
        let tokens = state.tokens(language, line);
        tokens.into_iter().map(|(kind, at)| format!("{}:{}", letter(kind), &line[at])).collect()
    }

    #[test]
    fn parts_of_a_line_are_found_in_each_family_of_languages() {
        let table: [(&str, &str, &[&str]); 11] = [
            (
                "a.rs",
                "let x: Vec<u8> = b(\"a\\\"b\"); // why",
                &["k:let", "t:Vec", "s:\"a\\\"b\"", "c:// why"],
            ),
            ("a.rs", "fn f<'a>(c: &'a str) { 'x' + '\\n' }", &["k:fn", "s:'x'", "s:'\\n'"]),
            ("src/a.ts", "const a = `x` + 12;", &["k:const", "s:`", "s:x`", "n:12"]),
            ("a.py", "def f(): # it's", &["k:def", "c:# it's"]),
            ("b/Makefile", "all: # x", &["c:# x"]),
            ("a.json", "{\"a\": true, \"b\": 1}", &["s:\"a\"", "k:true", "s:\"b\"", "n:1"]),
            ("a.sql", "FROM a -- b", &["k:FROM", "c:-- b"]),
            ("a.html", "<a href=\"x\"><!-- y -->", &["s:\"x\"", "c:<!--", "c: y -->"]),
            ("a.go", "func Näme() 漢字", &["k:func", "t:Näme"]),
            ("a.sh", "if [ \"$a\" ]; then", &["k:if", "s:\"$a\"", "k:then"]),
            ("a.c", "/* one */ int x = 0x1f;", &["c:/*", "c: one */", "k:int", "n:0x1f"]),
        ];
        for (path, line, expected) in table {
            assert_eq!(shown(path, &mut CodeState::default(), line), expected, "{path}: {line}");
        }
        for unknown in ["README", "a.md", "picture.png", ""] {
            assert!(language_of(unknown).is_none(), "{unknown}");
        }
    }

    #[test]
    fn comment_and_long_text_continue_in_the_next_line() {
        let mut state = CodeState::default();
        assert_eq!(shown("a.c", &mut state, "x /* a"), ["c:/*", "c: a"]);
        assert_eq!(shown("a.c", &mut state, "if b"), ["c:if b"]);
        assert_eq!(shown("a.c", &mut state, "*/ if"), ["c:*/", "k:if"]);
        assert_eq!(shown("a.py", &mut state, "a = '''x"), ["s:'''", "s:x"]);
        assert_eq!(shown("a.py", &mut state, "y'''"), ["s:y'''"]);
        assert_eq!(state, CodeState::Code);
        // A quote that is not closed ends with its line.
        assert_eq!(shown("a.py", &mut state, "'open"), ["s:'open"]);
        assert_eq!(state, CodeState::Code);
    }

    #[test]
    fn any_line_is_read_to_its_end() {
        for path in ["a.rs", "a.py", "a.html", "a.sql"] {
            for line in ["\\", "'", "\"\\", "é'ü\"漢/*", "'''", "/*/", "\u{0}\u{200d}'"] {
                let mut state = CodeState::default();
                for (_, at) in state.tokens(language_of(path).unwrap(), line) {
                    assert!(line.get(at.clone()).is_some(), "{path} {line:?} {at:?}");
                }
            }
        }
        let long = "\"".repeat(MAX_LINE_BYTES + 1);
        assert_eq!(CodeState::default().tokens(&RUST, &long), []);
    }
}
