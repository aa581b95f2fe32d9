#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) first_of_line: bool,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

macro_rules! kinds {
    (words { $($word:ident $word_text:literal,)* } signs { $($sign:ident $sign_text:literal,)* }
     $($(#[$doc:meta])* $class:ident { $($member:ident,)* })*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Kind {
            $($word,)*
            $($sign,)*
            Name,
            Int,
            Str,
            /// Characters that the lexer has reported.
            Bad,
            End,
        }

        impl Kind {
            pub(crate) fn word(text: &str) -> Option<Kind> {
                match text {
                    $($word_text => Some(Kind::$word),)*
                    _ => None,
                }
            }

            /// The spelling, if all tokens of the kind share it.
            pub(crate) fn spelling(self) -> Option<&'static str> {
                match self {
                    $(Kind::$word => Some($word_text),)*
                    $(Kind::$sign => Some($sign_text),)*
                    Kind::Name | Kind::Int | Kind::Str | Kind::Bad | Kind::End => None,
                }
            }

            pub(crate) fn is_word(self) -> bool {
                matches!(self, $(Kind::$word)|*)
            }

            $($(#[$doc])*
            pub(crate) fn $class(self) -> bool {
                matches!(self, $(Kind::$member)|*)
            })*

            /// All signs, each before its prefixes.
            pub(crate) const SIGNS: &[(Kind, &str)] = &[$((Kind::$sign, $sign_text),)*];

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
    /// Whether declarations begin with this; `event` and `machine` are types too.
    begins_declaration {
        Type, Enum, Event, EventSet, Interface, Machine, Spec, Scenario, Fun, Param, Module, Test,
        Implementation,
    }
    /// Whether types begin with this.
    begins_type {
        Name, IntType, Float, Bool, StringType, Event, Machine, Any, Data, Seq, Set, Map,
        ParenOpen,
    }
    /// Whether statements begin with this.
    begins_statement {
        BraceOpen, Assert, Print, Return, Break, Continue, While, Foreach, If, New, Raise, Send,
        Announce, Goto, Receive, Var, Name,
    }
    /// Whether only the P verifier knows this keyword.
    is_of_the_verifier {
        Pure, Invariant, Axiom, InitCondition, Lemma, Theorem, Proof, Prove, Using, Except,
        Requires, Ensures, Forall, Exists, Is, Inflight, Targets, Sent,
    }
}

impl Kind {
    /// The kind in messages such as "expected ...".
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
}
