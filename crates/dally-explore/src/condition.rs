//! Conditions over what an execution shows: `Server in Leader >= 2 and not hot(Progress)`.
//!
//! ```text
//! condition = all { "or" all }            all  = part { "and" part }
//! part      = "not" part | "(" condition ")" | count [ ("<"|"<="|"="|"!="|">="|">") number ]
//! count     = NAME "in" STATE | ("inbox"|"enabled"|"waiting"|"halted"|"crashed"|"hot") "(" NAME [ "," TEXT ] ")"
//! ```
//!
//! A count is how many workers (monitors, messages) there are of which it is true. Alone it says that
//! there is one.

use std::fmt;

use dally_core::{Heat, WorkerId};

use crate::picture::{Life, Picture, Worker};

/// A condition over what an execution shows of its state.
///
/// ```
/// use dally_explore::Condition;
///
/// let two_leaders: Condition = "Server in Leader >= 2".parse()?;
/// assert_eq!(two_leaders.to_string(), "Server in Leader >= 2");
/// let error = "Server in Leader >= two".parse::<Condition>().unwrap_err();
/// assert_eq!(error.to_string(), "character 21: a number should stand here, not `two`");
/// # Ok::<(), dally_explore::ConditionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Any(Vec<Node>),
    All(Vec<Node>),
    Not(Box<Node>),
    Compare(Count, Comparison, u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Count {
    of: Of,
    /// A name or an id; `*` for all.
    who: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Of {
    /// Workers and monitors in this state.
    In(String),
    /// Messages that wait, those with this text if there is one.
    Inbox(Option<String>),
    Enabled,
    /// Workers that wait, for something with this text if there is one.
    Waiting(Option<String>),
    Halted,
    Crashed,
    Hot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    Equal,
    Other,
    AtLeast,
    More,
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::Other),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("=", Comparison::Equal),
];

/// A text is no condition, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("character {at}: {message}")]
pub struct ConditionError {
    /// The character, from 1.
    pub at: usize,
    /// What is wrong there.
    pub message: String,
}

impl Condition {
    /// Whether it holds in a state with this picture, in which these workers can step.
    pub fn holds(&self, picture: &Picture, enabled: &[WorkerId]) -> bool {
        self.root.holds(picture, enabled)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Node {
    fn holds(&self, picture: &Picture, enabled: &[WorkerId]) -> bool {
        match self {
            Node::Any(nodes) => nodes.iter().any(|node| node.holds(picture, enabled)),
            Node::All(nodes) => nodes.iter().all(|node| node.holds(picture, enabled)),
            Node::Not(node) => !node.holds(picture, enabled),
            Node::Compare(count, comparison, number) => {
                let counted = count.number(picture, enabled);
                match comparison {
                    Comparison::Less => counted < *number,
                    Comparison::AtMost => counted <= *number,
                    Comparison::Equal => counted == *number,
                    Comparison::Other => counted != *number,
                    Comparison::AtLeast => counted >= *number,
                    Comparison::More => counted > *number,
                }
            }
        }
    }
}

impl Count {
    fn number(&self, picture: &Picture, enabled: &[WorkerId]) -> u64 {
        let workers = |is: &dyn Fn(WorkerId, &Worker) -> bool| {
            let of = picture.workers.iter();
            of.filter(|(id, worker)| self.is_of(**id, worker) && is(**id, worker)).count() as u64
        };
        match &self.of {
            Of::In(state) => {
                let monitors = picture.monitors.iter().filter(|(name, monitor)| {
                    (self.who == "*" || **name == self.who) && is_state(&monitor.state, state)
                });
                let top =
                    |worker: &Worker| worker.states.last().is_some_and(|top| is_state(top, state));
                workers(&|_, worker| top(worker)) + monitors.count() as u64
            }
            Of::Inbox(text) => {
                let of = picture.workers.iter().filter(|(id, worker)| self.is_of(**id, worker));
                let messages = of.flat_map(|(_, worker)| &worker.inbox);
                messages.filter(|(_, payload)| has(payload, text.as_deref())).count() as u64
            }
            Of::Enabled => workers(&|id, _| id.place_in(enabled).is_ok()),
            Of::Waiting(text) => workers(&|_, worker| {
                worker.waits.as_ref().is_some_and(|on| has(on, text.as_deref()))
            }),
            Of::Halted => workers(&|_, worker| worker.life == Life::Halted),
            Of::Crashed => workers(&|_, worker| worker.life == Life::Crashed),
            Of::Hot => {
                let hot = picture.monitors.iter().filter(|(name, monitor)| {
                    (self.who == "*" || **name == self.who) && monitor.heat == Heat::Hot
                });
                hot.count() as u64
            }
        }
    }

    fn is_of(&self, id: WorkerId, worker: &Worker) -> bool {
        self.who == "*" || self.who == worker.name || self.who == id.to_string()
    }
}

/// A state may have a path before its name.
fn is_state(state: &str, wanted: &str) -> bool {
    state == wanted || state.rsplit(['.', ':']).next() == Some(wanted)
}

fn has(text: &str, part: Option<&str>) -> bool {
    part.is_none_or(|part| text.contains(part))
}

impl std::str::FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let mut reader =
            Reader { tokens: tokens(text)?, next: 0, end: text.chars().count() + 1, depth: 0 };
        let root = reader.any()?;
        match reader.peek() {
            None => Ok(Condition { text: text.trim().to_owned(), root }),
            Some(_) => Err(reader.wants("`and`, `or` or the end")),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    at: usize,
    text: String,
    quoted: bool,
}

fn tokens(text: &str) -> Result<Vec<Token>, ConditionError> {
    let mut tokens = Vec::new();
    let mut chars = (1..).zip(text.chars()).peekable();
    while let Some((at, char)) = chars.next() {
        let mut token = Token { at, text: char.to_string(), quoted: false };
        match char {
            _ if char.is_whitespace() => continue,
            '"' => {
                (token.text, token.quoted) = (String::new(), true);
                loop {
                    match chars.next() {
                        Some((_, '"')) => break,
                        Some((_, char)) => token.text.push(char),
                        None => {
                            let message = "the quoted text has no end".to_owned();
                            return Err(ConditionError { at, message });
                        }
                    }
                }
            }
            '(' | ')' | ',' | '=' => {}
            '<' | '>' | '!' => {
                if let Some((_, equals)) = chars.next_if(|next| next.1 == '=') {
                    token.text.push(equals);
                }
            }
            _ => {
                let ends = |char: char| char.is_whitespace() || "(),=<>!\"".contains(char);
                while let Some((_, char)) = chars.next_if(|next| !ends(next.1)) {
                    token.text.push(char);
                }
            }
        }
        tokens.push(token);
    }
    Ok(tokens)
}

struct Reader {
    tokens: Vec<Token>,
    next: usize,
    /// The character after the last.
    end: usize,
    depth: usize,
}

/// Deeper conditions are an error, so that no text exhausts the stack.
const DEEPEST: usize = 100;

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn takes(&mut self, text: &str) -> bool {
        let is_next = self.peek().is_some_and(|token| !token.quoted && token.text == text);
        self.next += usize::from(is_next);
        is_next
    }

    fn expects(&mut self, text: &str) -> Result<(), ConditionError> {
        match self.takes(text) {
            true => Ok(()),
            false => Err(self.wants(&format!("`{text}`"))),
        }
    }

    fn wants(&self, what: &str) -> ConditionError {
        match self.peek() {
            Some(token) => ConditionError {
                at: token.at,
                message: format!("{what} should stand here, not `{}`", token.text),
            },
            None => ConditionError {
                at: self.end,
                message: format!("{what} should stand here, at the end"),
            },
        }
    }

    fn any(&mut self) -> Result<Node, ConditionError> {
        let mut nodes = vec![self.all()?];
        while self.takes("or") {
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    fn all(&mut self) -> Result<Node, ConditionError> {
        let mut nodes = vec![self.part()?];
        while self.takes("and") {
            nodes.push(self.part()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::All(nodes) })
    }

    fn part(&mut self) -> Result<Node, ConditionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let at = self.peek().map_or(self.end, |token| token.at);
            return Err(ConditionError {
                at,
                message: "the condition is nested too deeply".into(),
            });
        }
        let node = if self.takes("not") {
            Node::Not(Box::new(self.part()?))
        } else if self.takes("(") {
            let node = self.any()?;
            self.expects(")")?;
            node
        } else {
            let count = self.count()?;
            let found = COMPARISONS.iter().find(|(sign, _)| self.takes(sign));
            match found {
                Some(&(_, comparison)) => Node::Compare(count, comparison, self.number()?),
                None => Node::Compare(count, Comparison::AtLeast, 1),
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn count(&mut self) -> Result<Count, ConditionError> {
        let place = self.next;
        let first = self.word("a name, such as `Server`,")?;
        let is_call = !self.tokens[place].quoted && self.takes("(");
        if !is_call {
            if !self.takes("in") {
                return Err(self.wants("`in` and a state"));
            }
            return Ok(Count { of: Of::In(self.word("a state")?), who: first });
        }
        let who = self.word("a name, an id or `*`")?;
        let text = if self.takes(",") { Some(self.word("a text")?) } else { None };
        let of = match (first.as_str(), text) {
            ("inbox", text) => Of::Inbox(text),
            ("waiting", text) => Of::Waiting(text),
            ("enabled", None) => Of::Enabled,
            ("halted", None) => Of::Halted,
            ("crashed", None) => Of::Crashed,
            ("hot", None) => Of::Hot,
            ("enabled" | "halted" | "crashed" | "hot", Some(_)) => {
                let at = self.tokens[place].at;
                return Err(ConditionError {
                    at,
                    message: format!("`{first}` takes a name alone"),
                });
            }
            _ => {
                let at = self.tokens[place].at;
                let message = format!(
                    "nothing is called `{first}`: there are inbox, enabled, waiting, halted, crashed and \
                     hot, and NAME in STATE"
                );
                return Err(ConditionError { at, message });
            }
        };
        self.expects(")")?;
        Ok(Count { of, who })
    }

    fn word(&mut self, what: &str) -> Result<String, ConditionError> {
        let is_sign = |token: &Token| {
            let signs = ["(", ")", ",", "!"].contains(&token.text.as_str());
            !token.quoted && (signs || COMPARISONS.iter().any(|(sign, _)| *sign == token.text))
        };
        match self.peek() {
            Some(token) if !is_sign(token) => {
                let text = token.text.clone();
                self.next += 1;
                Ok(text)
            }
            _ => Err(self.wants(what)),
        }
    }

    fn number(&mut self) -> Result<u64, ConditionError> {
        let number = self.peek().and_then(|token| token.text.parse().ok());
        let number = number.ok_or_else(|| self.wants("a number"))?;
        self.next += 1;
        Ok(number)
    }
}
