//! The words and signs of the language.

/// A word or sign, and where it stands in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// Whether it is the first of its line.
    pub(crate) first_of_line: bool,
    /// The first byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
}

macro_rules! kinds {
    (words { $($word:ident $word_text:literal,)* } signs { $($sign:ident $sign_text:literal,)* }) => {
        /// What a token is.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Kind {
            $($word,)*
            $($sign,)*
            /// A name.
            Name,
            /// Digits.
            Int,
            /// A text in quotes.
            Str,
            /// Something that the lexer has already complained about.
            Bad,
            /// The end of the file.
            End,
        }

        impl Kind {
            /// The keyword of this spelling.
            pub(crate) fn word(text: &str) -> Option<Kind> {
                match text {
                    $($word_text => Some(Kind::$word),)*
                    _ => None,
                }
            }

            /// How it is spelt, if it is always spelt so.
            pub(crate) fn spelling(self) -> Option<&'static str> {
                match self {
                    $(Kind::$word => Some($word_text),)*
                    $(Kind::$sign => Some($sign_text),)*
                    Kind::Name | Kind::Int | Kind::Str | Kind::Bad | Kind::End => None,
                }
            }

            /// Whether it is a keyword.
            pub(crate) fn is_word(self) -> bool {
                matches!(self, $(Kind::$word)|*)
            }

            /// All signs, longer ones before those they begin with.
            pub(crate) const SIGNS: &[(Kind, &str)] = &[$((Kind::$sign, $sign_text),)*];

            /// All keywords and signs, for generators of random programs.
            pub(crate) const SPELLINGS: &[&str] = &[$($word_text,)* $($sign_text,)*];
        }
    };
}

kinds! {
    words {
        Announce "announce", Any "any", As "as", Assert "assert", Assume "assume", Axiom "axiom",
        Bool "bool", Break "break", Case "case", Choose "choose", Cold "cold", Compose "compose",
        Continue "continue", Creates "creates", Data "data", Default "default", Defer "defer",
        Do "do", Else "else", Ensures "ensures", Entry "entry", Enum "enum", Event "event",
        EventSet "eventset", Except "except", Exists "exists", Exit "exit", False "false",
        Float "float", Forall "forall", Foreach "foreach", Format "format", Fun "fun",
        Goto "goto", Halt "halt", HideEvents "hidee", HideInterfaces "hidei", Hot "hot",
        If "if", Ignore "ignore", Implementation "implementation", In "in", Inflight "inflight",
        InitCondition "init-condition", IntType "int", Interface "interface",
        Invariant "invariant", Is "is", Keys "keys", Lemma "Lemma", Machine "machine",
        Main "main", Map "map", Module "module", New "new", Null "null", Observes "observes",
        On "on", Pairwise "pairwise", Param "param", Print "print", Proof "Proof",
        Prove "prove", Pure "pure", Raise "raise", Receive "receive", Receives "receives",
        Refines "refines", Rename "rename", Requires "requires", Return "return",
        Scenario "scenario", Send "send", Sends "sends", Sent "sent", Seq "seq", Set "set",
        Sizeof "sizeof", Spec "spec", Start "start", State "state", StringType "string",
        Targets "targets", Test "test", Theorem "Theorem", This "this", To "to", True "true",
        Type "type", Union "union", Using "using", Values "values", Var "var", While "while",
        Wise "wise", With "with",
    }
    signs {
        Iff "<==>", Implies "==>", FairNondet "$$", Nondet "$", NotEqual "!=", Not "!", And "&&",
        Or "||", Equal "==", LessEqual "<=", GreaterEqual ">=", Less "<", Greater ">",
        Arrow "->", Define ":=", Assign "=", Insert "+=", Remove "-=", Plus "+", Minus "-",
        Times "*", Over "/", Modulo "%", BraceOpen "{", BraceClose "}", BracketOpen "[",
        BracketClose "]", ParenOpen "(", ParenClose ")", Semi ";", Comma ",", Dot ".",
        Colon ":",
    }
}

impl Kind {
    /// For "expected ...".
    pub(crate) fn describe(self) -> String {
        match (self.spelling(), self) {
            (Some(text), _) => format!("`{text}`"),
            (None, Kind::Name) => "a name".into(),
            (None, Kind::Int) => "a number".into(),
            (None, Kind::Str) => "a text".into(),
            (None, Kind::End) => "the end of the file".into(),
            (None, _) => "something unknown".into(),
        }
    }

    /// Whether it is a word that only the P verifier knows.
    pub(crate) fn is_of_the_verifier(self) -> bool {
        matches!(
            self,
            Kind::Pure
                | Kind::Invariant
                | Kind::Axiom
                | Kind::InitCondition
                | Kind::Lemma
                | Kind::Theorem
                | Kind::Proof
                | Kind::Prove
                | Kind::Using
                | Kind::Except
                | Kind::Requires
                | Kind::Ensures
                | Kind::Forall
                | Kind::Exists
                | Kind::Is
                | Kind::Inflight
                | Kind::Targets
                | Kind::Sent
        )
    }
}
