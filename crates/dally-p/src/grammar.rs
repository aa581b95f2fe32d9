//! A TextMate grammar of P, which editors colour sources by.

use serde_json::json;

use crate::syntax::SPELLINGS;

/// The grammar as JSON, made from the keywords of the lexer.
pub fn textmate() -> String {
    const TYPES: [&str; 11] =
        ["any", "bool", "data", "event", "float", "int", "machine", "map", "seq", "set", "string"];
    const CONSTANTS: [&str; 5] = ["true", "false", "null", "halt", "this"];
    const DECLARES: &str = "type|enum|event|eventset|interface|machine|spec|scenario|fun|param|\
                            module|test|implementation|state";
    let is_word = |word: &&str| word.starts_with(|letter: char| letter.is_alphabetic());
    let keywords: Vec<&str> = (SPELLINGS.iter().copied())
        .filter(is_word)
        .filter(|word| !TYPES.contains(word) && !CONSTANTS.contains(word))
        .collect();
    let words = |words: &[&str]| format!(r"\b({})\b", words.join("|"));
    let named = |name: &str, pattern: String| json!({ "name": name, "match": pattern });
    let grammar = json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "P",
        "scopeName": "source.p",
        "fileTypes": ["p"],
        "patterns": [
            { "name": "comment.line.double-slash.p", "match": "//.*$" },
            { "name": "comment.block.p", "begin": r"/\*", "end": r"\*/" },
            {
                "name": "string.quoted.double.p", "begin": "\"", "end": "\"",
                "patterns": [{ "name": "constant.character.escape.p", "match": r"\\." }],
            },
            {
                "match": format!(r"\b({DECLARES})\s+([A-Za-z_][A-Za-z0-9_]*)"),
                "captures": {
                    "1": { "name": "keyword.declaration.p" },
                    "2": { "name": "entity.name.p" },
                },
            },
            named("storage.type.p", words(&TYPES)),
            named("constant.language.p", words(&CONSTANTS)),
            named("keyword.control.p", words(&keywords)),
            named("constant.numeric.p", r"\b[0-9]+(\.[0-9]+)?\b".into()),
            named("keyword.operator.nondeterministic.p", r"\$\$?".into()),
            named("keyword.operator.p", r"[-+*/%<>=!]=?|&&|\|\||->".into()),
            named("entity.name.function.p", r"\b[A-Za-z_][A-Za-z0-9_]*(?=\s*\()".into()),
        ],
    });
    format!("{grammar:#}\n")
}
