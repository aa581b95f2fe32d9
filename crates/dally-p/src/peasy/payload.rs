//! An event of a trace and its payload, read back from their text.

use serde_json::{Map, Value};

/// The name of an event and what it carries.
pub(super) struct Payload<'t> {
    pub(super) event: &'t str,
    pub(super) value: Option<Value>,
}

impl<'t> Payload<'t> {
    /// Reads `e with payload (<a:1, b:"x", >)`. Objects are made of named tuples and maps, arrays of
    /// tuples, sequences and sets. What is not understood stays a text.
    pub(super) fn of(text: &'t str) -> Payload<'t> {
        let Some((event, rest)) = text.split_once(" with payload (") else {
            return Payload { event: text, value: None };
        };
        let written = rest.strip_suffix(')').unwrap_or(rest);
        let mut reader = Reader(written);
        let value = reader.value().filter(|_| reader.0.is_empty());
        Payload { event, value: Some(value.unwrap_or_else(|| written.into())) }
    }
}

/// What is left to read.
struct Reader<'t>(&'t str);

impl<'t> Reader<'t> {
    fn eat(&mut self, text: &str) -> bool {
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn value(&mut self) -> Option<Value> {
        match self.0.chars().next()? {
            '<' => match self.angle()? {
                Angle::Value(value) => Some(value),
                Angle::Pair(..) => None,
            },
            '(' => self.collection(),
            '"' => self.text(),
            _ => Some(scalar(self.word())),
        }
    }

    /// A number, name or machine, which has parentheses: `Client(0.1)`.
    fn word(&mut self) -> &'t str {
        let mut depth = 0;
        let end = self.0.find(|letter: char| {
            match letter {
                '(' => depth += 1,
                ')' if depth > 0 => {
                    depth -= 1;
                    return false;
                }
                _ => {}
            }
            depth == 0 && matches!(letter, ',' | '>' | ')' | '"')
        });
        let mut end = end.unwrap_or(self.0.len());
        // The key of a map ends with its arrow.
        end = self.0[..end].strip_suffix('-').map_or(end, str::len);
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn text(&mut self) -> Option<Value> {
        let mut escaped = false;
        let end = self.0[1..].find(|letter| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        })? + 2;
        let (quoted, rest) = self.0.split_at(end);
        self.0 = rest;
        // Escapes of Rust and JSON agree but for those of characters that are not printed.
        let plain = &quoted[1..quoted.len() - 1];
        Some(serde_json::from_str(quoted).unwrap_or_else(|_| plain.into()))
    }

    /// `<a:1, b:2, >` and `<1,2,>` are tuples, `<1>` is an element of a set, `<k->v>` of a map.
    fn angle(&mut self) -> Option<Angle> {
        self.eat("<");
        let (mut fields, mut items) = (Map::new(), Vec::new());
        while !self.eat(">") {
            let name = self.0.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
            match name.filter(|&at| at > 0 && self.0[at..].starts_with(':')) {
                Some(at) => {
                    let name = self.0[..at].to_owned();
                    self.0 = &self.0[at + 1..];
                    fields.insert(name, self.value()?);
                }
                None => {
                    let item = self.value()?;
                    if self.eat("->") {
                        let value = self.value()?;
                        return self.eat(">").then_some(Angle::Pair(item, value));
                    }
                    if self.eat(">") {
                        return Some(Angle::Value(item));
                    }
                    items.push(item);
                }
            }
            if !self.eat(", ") && !self.eat(",") {
                return None;
            }
        }
        let is_named = items.is_empty() && !fields.is_empty();
        Some(Angle::Value(if is_named { fields.into() } else { items.into() }))
    }

    /// `(1, 2)`, `(<1>, <2>)` or `(<k->v>)`: a sequence, a set or a map.
    fn collection(&mut self) -> Option<Value> {
        self.eat("(");
        let (mut pairs, mut items) = (Map::new(), Vec::new());
        while !self.eat(")") {
            let item = match self.0.starts_with('<') {
                true => self.angle()?,
                false => Angle::Value(self.value()?),
            };
            match item {
                Angle::Value(item) => items.push(item),
                Angle::Pair(key, value) => {
                    let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                    pairs.insert(key, value);
                }
            }
            if !self.eat(", ") && !self.0.starts_with(')') {
                return None;
            }
        }
        Some(if pairs.is_empty() { items.into() } else { pairs.into() })
    }
}

/// What is between `<` and `>`.
enum Angle {
    Value(Value),
    Pair(Value, Value),
}

fn scalar(word: &str) -> Value {
    match word {
        "null" => Value::Null,
        "True" => true.into(),
        "False" => false.into(),
        word => match (word.parse::<i64>(), word.parse::<f64>()) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => word.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> String {
        let text = format!("e with payload ({payload})");
        Payload::of(&text).value.unwrap().to_string()
    }

    #[test]
    fn payloads_are_read_back_from_their_text() {
        assert_eq!(read("5"), "5");
        assert_eq!(read("Client(0.1)"), "\"Client(0.1)\"");
        assert_eq!(read(r#""a, \"b\" >""#), r#""a, \"b\" >""#);
        assert_eq!(read("<from:Client(0.1), by:-1, >"), r#"{"by":-1,"from":"Client(0.1)"}"#);
        assert_eq!(read("<1,True,<a:null, >,>"), r#"[1,true,{"a":null}]"#);
        assert_eq!(read("(1, 2)"), "[1,2]");
        assert_eq!(read("(<1,2,>, <3,4,>)"), "[[1,2],[3,4]]");
        assert_eq!(read("(<1>, <2>)"), "[1,2]");
        assert_eq!(read("(<k->(1, 2)>, <l->()>)"), r#"{"k":[1,2],"l":[]}"#);
        assert_eq!(read("(<-1->Red>)"), r#"{"-1":"Red"}"#);
        assert_eq!(read("()"), "[]");
        assert_eq!(read("1.5"), "1.5");
    }

    #[test]
    fn an_event_without_payload_and_one_that_is_not_understood() {
        assert_eq!((Payload::of("halt").event, Payload::of("halt").value), ("halt", None));
        assert_eq!(read("Blob { <<"), "\"Blob { <<\"");
    }
}
