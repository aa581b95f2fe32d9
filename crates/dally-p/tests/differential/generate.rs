//! Random programs of a few machines with states, queues, receives, specs and collections. Every
//! handler costs fuel, so all executions end.

use fastrand::Rng;

/// A program that the checker accepts.
pub fn program(seed: u64) -> String {
    let mut made = Maker { rng: Rng::with_seed(seed), text: String::new() };
    made.all();
    made.text
}

const EVENTS: usize = 3;

struct Maker {
    rng: Rng,
    text: String,
}

impl Maker {
    fn all(&mut self) {
        self.text += "event e0: int; event e1: int; event e2: int; event told: int;\n";
        let children = self.rng.usize(1..3);
        for machine in 0..=children {
            self.machine(machine, children);
        }
        self.spec();
        let names: Vec<String> = (0..=children).map(name).collect();
        let specs = if self.rng.bool() { "assert Watch in " } else { "" };
        self.text += &format!("test t [main=Main]: {specs}{{ {} }};\n", names.join(", "));
    }

    fn machine(&mut self, machine: usize, children: usize) {
        let mut open = format!(
            "machine {} {{\n  var fuel: int; var x: int; var y: int; var peer: machine; var all: \
             seq[machine];\n  var s: seq[int]; var t: set[int]; var m: map[int, int];\n",
            name(machine)
        );
        if machine == 0 {
            open += "  start state A {\n    entry {\n      fuel = 2;\n      all += (0, this);\n";
            for child in 1..=children {
                let fuel = self.rng.usize(0..2);
                open += &format!(
                    "      peer = new {}((parent = this, fuel = {fuel}));\n      all += (0, peer);\n",
                    name(child)
                );
            }
        } else {
            open += "  start state A {\n    entry (c: (parent: machine, fuel: int)) {\n      \
                     peer = c.parent; fuel = c.fuel; all += (0, peer); all += (1, this);\n";
        }
        self.text += &open;
        self.work(3, true);
        self.text += "    }\n";
        self.handlers();
        self.text += "  }\n  state B {\n    entry (n: int) { x = (x + n) % 3; }\n";
        if self.rng.bool() {
            self.text += "    exit { y = (y + 1) % 3; }\n";
        }
        self.handlers();
        self.text += "  }\n  fun twice(n: int): int { if (n > 0) { y = (y + n) % 3; return n * 2; } \
                      return 0; }\n  fun tell(n: int): int { ";
        if self.rng.bool() {
            self.text += "if (fuel > 0) { fuel = fuel - 1; send peer, e1, n; } ";
        }
        self.text += "return n + 1; }\n}\n";
    }

    fn handlers(&mut self) {
        for event in 0..EVENTS {
            match self.rng.usize(0..12) {
                0 => self.text += &format!("    defer e{event};\n"),
                1 => self.text += &format!("    ignore e{event};\n"),
                2 => self.text += &format!("    on e{event} goto B;\n"),
                3 => {
                    self.text +=
                        &format!("    on e{event} goto B with (n: int) {{ x = (x + n) % 3; }}\n");
                }
                4 if self.rng.usize(0..4) == 0 => {}
                _ => {
                    self.text += &format!("    on e{event} do (n: int) {{\n");
                    self.work(2, true);
                    self.text += "    }\n";
                }
            }
        }
        if self.rng.usize(0..8) == 0 {
            self.text += "    on null do { if (fuel > 0) { fuel = fuel - 1; x = (x + 1) % 3; } else { raise halt; } }\n";
        }
    }

    fn work(&mut self, most: usize, may_leave: bool) {
        for _ in 0..self.rng.usize(1..=most) {
            self.statement(2);
        }
        if may_leave && self.rng.usize(0..4) == 0 {
            let value = self.expr(1);
            let leave = match self.rng.usize(0..4) {
                0 => format!("raise e{}, {value};", self.rng.usize(0..EVENTS)),
                1 => "raise halt;".to_owned(),
                _ => format!("goto B, {value};"),
            };
            self.text += &format!("      if (fuel > 0) {{ fuel = fuel - 1; {leave} }}\n");
        }
    }

    fn statement(&mut self, depth: usize) {
        let value = self.expr(2);
        let other = self.expr(1);
        let event = self.rng.usize(0..EVENTS);
        let line = match self.rng.usize(0..16) {
            0 | 1 => format!("x = ({value}) % 3;"),
            2 => format!("y = ({value}) % 3;"),
            3..=6 => {
                let to = ["peer", "this", "peer", "choose(all)"][self.rng.usize(0..4)];
                format!("if (fuel > 0) {{ fuel = fuel - 1; send {to}, e{event}, ({value}) % 3; }}")
            }
            7 => format!("if (sizeof(s) < 2) {{ s += (sizeof(s), ({value}) % 3); }}"),
            8 => "if (sizeof(s) > 0) { s -= (0); }".to_owned(),
            9 => format!("t += (({value}) % 2);"),
            10 => format!("m[({other}) % 2] = ({value}) % 3;"),
            11 => format!("m -= (({value}) % 2); t -= (({other}) % 2);"),
            12 => format!("announce told, ({value}) % 3;"),
            13 if self.rng.bool() => {
                format!("assert ({value}) % 7 != 5, format(\"wrong: {{0}}\", {value});")
            }
            14 if self.rng.bool() => {
                format!(
                    "if (fuel > 0) {{ fuel = fuel - 1; send this, e{event}, 1; receive {{ \
                     case e{event}: (got: int) {{ x = (x + got + ({other})) % 3; }} }} }}"
                )
            }
            _ if depth > 0 => {
                let condition = self.condition();
                self.text += &format!("      if ({condition}) {{\n");
                self.statement(depth - 1);
                self.text += "      } else {\n";
                self.statement(depth - 1);
                self.text += "      }\n";
                return;
            }
            _ => "x = (x + sizeof(keys(m))) % 3;".to_owned(),
        };
        self.text += &format!("      {line}\n");
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.expr(1), self.expr(1));
        match self.rng.usize(0..6) {
            0 => "$".to_owned(),
            1 => format!("({a}) in t"),
            2 => format!("({a}) < ({b}) && $"),
            3 => format!("({a}) == ({b}) || x == 1"),
            4 => "sizeof(s) > 0 && s[0] == 1".to_owned(),
            _ => format!("!(({a}) > ({b}))"),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.usize(0..3) == 0 {
            let leaves = ["0", "1", "2", "x", "y", "fuel", "sizeof(t)", "sizeof(s)"];
            return leaves[self.rng.usize(0..leaves.len())].to_owned();
        }
        let (a, b) = (self.expr(depth - 1), self.expr(depth - 1));
        match self.rng.usize(0..8) {
            0 => format!("({a}) * ({b})"),
            1 => format!("({a}) + twice({b})"),
            2 => format!("tell({a}) + ({b})"),
            3 => "choose(2)".to_owned(),
            4 => format!("({a}) - ({b})"),
            _ => format!("({a}) + ({b})"),
        }
    }

    fn spec(&mut self) {
        let bound = self.rng.usize(2..9);
        let heat = if self.rng.bool() { "hot " } else { "" };
        self.text += &format!(
            "spec Watch observes e0, told {{\n  var n: int;\n  start state S {{\n    on e0 goto T \
             with (k: int) {{ n = (n + k) % 4; }}\n    on told do (k: int) {{ n = (n + k) % 4; }}\n  \
             }}\n  {heat}state T {{\n    on told goto S;\n    on e0 do (k: int) {{ assert n + k < \
             {bound}, \"too much\"; }}\n  }}\n}}\n"
        );
    }
}

fn name(machine: usize) -> String {
    if machine == 0 { "Main".into() } else { format!("M{machine}") }
}
