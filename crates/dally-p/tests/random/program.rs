//! Programs by the grammar, most of whose parts are well typed.

use fastrand::Rng;

use super::pick;

/// A program.
pub fn program(rng: &mut Rng) -> String {
    let mut writer = Writer { rng, text: String::new(), budget: 60, in_spec: false };
    writer.program();
    writer.text
}

/// The types of expressions, each with a variable of its own in every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Int,
    Bool,
    Float,
    Text,
    Seq,
    Set,
    Map,
    Pair,
    Record,
    Machine,
    Event,
    Enum,
    Any,
}

const TYPES: &[(Ty, &str, &str)] = &[
    (Ty::Int, "int", "i"),
    (Ty::Bool, "bool", "b"),
    (Ty::Float, "float", "f"),
    (Ty::Text, "string", "s"),
    (Ty::Seq, "seq[int]", "q"),
    (Ty::Set, "set[int]", "t"),
    (Ty::Map, "map[int, bool]", "m"),
    (Ty::Pair, "(int, bool)", "p"),
    (Ty::Record, "Record", "r"),
    (Ty::Machine, "machine", "w"),
    (Ty::Event, "event", "v"),
    (Ty::Enum, "Colour", "c"),
    (Ty::Any, "any", "a"),
];

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
    /// How much more may be nested or repeated.
    budget: u32,
    in_spec: bool,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.text += text;
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.u32(0..n) == 0
    }

    /// Now and then something unexpected.
    fn slip(&mut self) -> bool {
        self.one_in(2_000)
    }

    fn any_type(&mut self) -> Ty {
        pick(self.rng, TYPES).0
    }

    fn several(&mut self, most: u32, mut write: impl FnMut(&mut Self)) {
        for _ in 0..self.rng.u32(0..=most) {
            write(self);
        }
    }

    fn program(&mut self) {
        self.put("type Record = (x: int, y: bool);\nenum Colour { Red, Green }\n");
        self.put("event e0; event e1: int; event e2: Record; event e3: machine;\n");
        self.put("eventset some = { e0, e1 };\n");
        if self.one_in(4) {
            self.put("param size: int;\n");
        }
        if self.one_in(8) {
            self.put("interface I(int) receives e0, e1;\n");
        }
        if self.one_in(8) {
            self.put("fun Foreign(n: int): int;\n");
        }
        self.several(2, Self::global_fun);
        for machine in ["Main", "Other"] {
            self.machine(machine);
        }
        let spec = self.one_in(2);
        if spec {
            self.spec();
        }
        self.put("module all = { Main, Other };\n");
        if self.one_in(6) {
            self.put("test param (size in [1, -2]) t0 [main=Main]: all;\n");
        }
        let module = if spec { "assert Watch in all" } else { "(union { Main }, { Other })" };
        self.put(&format!("test t1 [main=Main]: {module};\n"));
    }

    fn global_fun(&mut self) {
        let number = self.text.len();
        self.put(&format!("fun g{number}(i: int, b: bool): int {{\n"));
        for (_, name, variable) in &TYPES[2..] {
            self.put(&format!("  var {variable}: {name};\n"));
        }
        // Specs may call it, so it does nothing that they may not.
        self.in_spec = true;
        self.statements(Place::Fun);
        self.put("return ");
        self.small(Ty::Int);
        self.put(";\n}\n");
        self.in_spec = false;
    }

    fn fields(&mut self) {
        for (_, name, variable) in TYPES {
            self.put(&format!("  var {variable}: {name};\n"));
        }
    }

    fn machine(&mut self, name: &str) {
        self.put(&format!("machine {name} {{\n"));
        self.fields();
        self.put("  start state S0 {\n    entry {\n");
        self.statements(Place::Handler);
        self.put("    }\n");
        self.state_items();
        self.put("  }\n  state S1 {\n");
        self.state_items();
        self.put("  }\n}\n");
    }

    fn spec(&mut self) {
        self.in_spec = true;
        self.put("spec Watch observes e0, e1, e2, e3 {\n");
        self.fields();
        for state in ["start cold state S0", "hot state S1"] {
            self.put(&format!("  {state} {{\n    on e0 do {{\n"));
            self.statements(Place::Handler);
            self.put("    }\n    on e1 goto S0; ignore e2, e3;\n  }\n");
        }
        self.put("}\n");
        self.in_spec = false;
    }

    fn state_items(&mut self) {
        for (event, parameter) in
            [("e0", ""), ("e1", "(n: int) "), ("e2", "(n: Record) "), ("e3", "(n: machine) ")]
        {
            match self.rng.u8(0..6) {
                0 => self.put(&format!("    defer {event};\n")),
                1 => self.put(&format!("    ignore {event};\n")),
                2 => self.put(&format!("    on {event} goto S1;\n")),
                3 => {
                    self.put(&format!("    on {event} goto S0 with {parameter}{{\n"));
                    self.statements(Place::Fun);
                    self.put("    }\n");
                }
                _ => {
                    self.put(&format!("    on {event} do {parameter}{{\n"));
                    self.statements(Place::Handler);
                    self.put("    }\n");
                }
            }
        }
        if self.one_in(6) {
            self.put("    exit {\n");
            self.statements(Place::Fun);
            self.put("    }\n");
        }
        if self.one_in(8) {
            self.put("    on null do { i = i + 1; }\n");
        }
    }

    fn statements(&mut self, place: Place) {
        self.several(4, |writer| writer.statement(place));
    }

    fn block(&mut self, place: Place) {
        self.put("{\n");
        self.statements(place);
        self.put("}\n");
    }

    fn statement(&mut self, place: Place) {
        if self.slip() {
            super::token(self.rng, &mut self.text);
        }
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        match self.rng.u8(0..20) {
            0..=4 => self.assignment(),
            5 => {
                let (place, value) = pick(self.rng, &[("t", Ty::Int), ("w", Ty::Machine)]);
                self.put(if place == "t" { "t += (" } else { "print format(\"{0}\", " });
                self.small(value);
                self.put(");\n");
            }
            6 => {
                let text = pick(self.rng, &["q += (0, ", "q += (sizeof(q), "]);
                self.put(text);
                self.small(Ty::Int);
                self.put(");\n");
            }
            7 => {
                let text = pick(self.rng, &["t -= ", "m -= ", "q -= "]);
                self.put(text);
                self.put("(");
                self.small(Ty::Int);
                self.put(");\n");
            }
            8 => {
                self.put("if (");
                self.small(Ty::Bool);
                self.put(") ");
                self.block(place);
                if self.rng.bool() {
                    self.put("else ");
                    self.block(place);
                }
            }
            9 => {
                let text = pick(self.rng, &["foreach (i in q) ", "foreach (i in t) "]);
                self.put(text);
                self.block(Place::Fun);
            }
            10 => {
                self.put("assert ");
                self.small(Ty::Bool);
                self.put(", ");
                self.small(Ty::Text);
                self.put(";\n");
            }
            11 => {
                self.put("print ");
                self.small(Ty::Text);
                self.put(";\n");
            }
            12 => self.block(place),
            13 if place == Place::Handler => self.put("return;\n"),
            14 if place == Place::Handler => self.put("goto S1;\n"),
            15 if place == Place::Handler => {
                self.put("raise e1, ");
                self.small(Ty::Int);
                self.put(";\n");
            }
            16 if place == Place::Handler && !self.in_spec => {
                self.put("receive { case e0: { } case e1: (k: int) { ");
                self.statements(Place::Fun);
                self.put(" } }\n");
            }
            _ if self.in_spec => self.assignment(),
            13 | 14 => {
                self.put("w = new Other();\n");
            }
            _ => {
                self.put("send ");
                self.small(Ty::Machine);
                let (event, payload) = pick(
                    self.rng,
                    &[("e1", Some(Ty::Int)), ("e2", Some(Ty::Record)), ("e0", None)],
                );
                self.put(&format!(", {event}"));
                if let Some(payload) = payload {
                    self.put(", ");
                    self.small(payload);
                }
                self.put(";\n");
            }
        }
    }

    fn assignment(&mut self) {
        let ty = self.any_type();
        self.variable(ty);
        self.put(" = ");
        self.small(ty);
        self.put(";\n");
    }

    fn variable(&mut self, ty: Ty) {
        let name = TYPES.iter().find(|entry| entry.0 == ty).map_or("i", |entry| entry.2);
        self.put(name);
    }

    /// An expression of a few levels.
    fn small(&mut self, ty: Ty) {
        let depth = self.rng.u32(0..4);
        self.expr(ty, depth);
    }

    /// An expression of this type, by one of its forms: `_` stands for a smaller expression of
    /// the type that the letter after it is the variable of.
    fn expr(&mut self, ty: Ty, depth: u32) {
        let ty = if self.slip() { self.any_type() } else { ty };
        if depth == 0 || self.one_in(3) {
            return self.variable(ty);
        }
        let forms: &[&str] = match ty {
            Ty::Int => &[
                "0",
                "1",
                "_i + _i",
                "_i - _i",
                "_i * _i",
                "_i / 2",
                "_i % 3",
                "-_i",
                "sizeof(_q)",
                "sizeof(_m)",
                "_q[_i]",
                "_t[_i]",
                "_p.0",
                "_r.x",
                "_c to int",
                "_f to int",
                "(_a as int)",
                "choose(3)",
                "choose(_q)",
                "default(int)",
                "(_i)",
            ],
            Ty::Bool => &[
                "true",
                "false",
                "!_b",
                "_b && _b",
                "_b || _b",
                "_i < _i",
                "_i >= _i",
                "_i == _i",
                "_r != _r",
                "_i in _t",
                "_i in _m",
                "_i in _q",
                "_m[_i]",
                "_p.1",
                "_r.y",
                "$",
                "_s == _s",
                "_v == e0",
                "_w == null",
                "_c == Red",
                "(_b)",
            ],
            Ty::Float => &["1.5", ".25", "_f + _f", "_i to float", "_f * _f", "-_f"],
            Ty::Text => &["\"a\"", "_s + _s", "format(\"{0} {1}\", _i, _r)", "format(\"x\")"],
            Ty::Seq => &["default(seq[int])", "keys(_m)", "_q"],
            Ty::Set => &["default(set[int])", "_t"],
            Ty::Map => &["default(map[int, bool])", "_m"],
            Ty::Pair => &["(_i, _b)", "_p"],
            Ty::Record => &["(x = _i, y = _b)", "_r"],
            Ty::Machine => &["null", "this", "new Other()", "_w"],
            Ty::Event => &["e0", "e1", "halt", "null"],
            Ty::Enum => &["Red", "Green", "(1 to Colour)"],
            Ty::Any => &["_i", "_b", "_s", "_r", "_q", "null", "(_i, _i)"],
        };
        let mut form = pick(self.rng, forms);
        if self.in_spec && ["$", "choose", "this", "new"].iter().any(|no| form.contains(no)) {
            form = forms[0];
        }
        let mut parts = form.split('_');
        self.put(parts.next().unwrap_or(""));
        for part in parts {
            let letter = &part[..1];
            let inner = TYPES.iter().find(|entry| entry.2 == letter).map_or(Ty::Int, |e| e.0);
            self.expr(inner, depth - 1);
            self.put(&part[1..]);
        }
    }
}

/// What may be done here: handlers may leave their states.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Handler,
    Fun,
}
