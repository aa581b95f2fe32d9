//! State diagrams with what was covered, as SVG: the same byte for byte for the same coverage.

use std::collections::VecDeque;
use std::fmt::Write;

use dally_core::Heat;
use dally_core::words::visible;

/// The states of a machine and the ways between them.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Diagram {
    /// The heading.
    pub title: String,
    /// The states.
    pub states: Vec<State>,
    /// The index of the state that it starts in.
    pub start: usize,
    /// The ways from one state to another, or back to the same one.
    pub ways: Vec<Way>,
}

/// A state.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Whether it was entered.
    pub reached: bool,
    /// Whether it is hot or cold.
    pub heat: Heat,
    /// What it does with events without leaving, a line each, and whether it did.
    pub lines: Vec<(String, bool)>,
}

/// A way from one state to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The index of the state that it leaves.
    pub from: usize,
    /// The index of the state that it leads to.
    pub to: usize,
    /// What it is taken on.
    pub label: String,
    /// Whether it was taken.
    pub reached: bool,
}

const LINE: usize = 16;
const LETTER: usize = 7;
const GAP_X: usize = 60;
const GAP_Y: usize = 70;
const MARGIN: usize = 30;
const REACHED: &str = "#1a7f37";
const MISSED: &str = "#9a9a9a";

#[derive(Clone, Copy, Default)]
struct Box {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl Diagram {
    /// The diagram as SVG: what was reached in green and solid, the rest grey and dashed.
    pub fn svg(&self) -> String {
        let boxes = self.boxes();
        let right = boxes.iter().map(|one| one.x + one.width).max().unwrap_or(0);
        let bottom = boxes.iter().map(|one| one.y + one.height).max().unwrap_or(0);
        let labels = self.ways.iter().map(|way| way.label.chars().count() * LETTER).max();
        let width = right + labels.unwrap_or(0) + 2 * MARGIN + GAP_X;
        let height = bottom + MARGIN;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        for (name, colour) in [("reached", REACHED), ("missed", MISSED)] {
            let _ = writeln!(
                out,
                "<marker id=\"{name}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
                 markerHeight=\"8\" orient=\"auto\"><path d=\"M0,0L8,4L0,8z\" fill=\"{colour}\"/></marker>"
            );
        }
        text(&mut out, MARGIN, 20, "#000000", "bold", &self.title);
        for (number, way) in self.ways.iter().enumerate() {
            if let (Some(from), Some(to)) = (boxes.get(way.from), boxes.get(way.to)) {
                arrow(&mut out, way, *from, *to, number);
            }
        }
        for (at, (state, place)) in self.states.iter().zip(&boxes).enumerate() {
            state.draw(&mut out, *place, at == self.start);
        }
        out + "</svg>\n"
    }

    /// Rows by the number of ways from the start; what cannot be reached is in the last row.
    fn boxes(&self) -> Vec<Box> {
        let mut rows = vec![usize::MAX; self.states.len()];
        let mut waiting = VecDeque::new();
        if let Some(start) = rows.get_mut(self.start) {
            *start = 0;
            waiting.push_back(self.start);
        }
        while let Some(state) = waiting.pop_front() {
            for way in self.ways.iter().filter(|way| way.from == state) {
                if rows.get(way.to) == Some(&usize::MAX) {
                    rows[way.to] = rows[state] + 1;
                    waiting.push_back(way.to);
                }
            }
        }
        let last = rows.iter().filter(|row| **row < usize::MAX).max().map_or(0, |last| last + 1);
        let mut boxes = vec![Box::default(); self.states.len()];
        let mut y = MARGIN + 20;
        for row in 0..=last {
            let (mut x, mut tallest) = (MARGIN, 0);
            for (at, state) in self.states.iter().enumerate() {
                if rows[at].min(last) != row {
                    continue;
                }
                let lines = state.lines.iter().map(|line| &line.0);
                let longest = lines.chain([&state.name]).map(|line| line.chars().count()).max();
                let width = longest.unwrap_or(0) * LETTER + 24;
                let height = (1 + state.lines.len()) * LINE + 14;
                boxes[at] = Box { x, y, width, height };
                x += width + GAP_X;
                tallest = tallest.max(height);
            }
            if tallest > 0 {
                y += tallest + GAP_Y;
            }
        }
        boxes
    }
}

impl State {
    fn draw(&self, out: &mut String, Box { x, y, width, height }: Box, first: bool) {
        let (colour, dashes) = ink(self.reached);
        let fill = match self.heat {
            Heat::Hot => "#ffe3dc",
            Heat::Cold => "#dff0ff",
            Heat::Neutral => "#ffffff",
        };
        let thick = if first { 3 } else { 1 };
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{fill}\" \
             stroke=\"{colour}\" stroke-width=\"{thick}\"{dashes}/>"
        );
        text(out, x + 12, y + LINE + 2, colour, "bold", &self.name);
        for (number, (line, reached)) in self.lines.iter().enumerate() {
            text(out, x + 12, y + LINE * (number + 2) + 4, ink(*reached).0, "normal", line);
        }
    }
}

fn ink(reached: bool) -> (&'static str, &'static str) {
    match reached {
        true => (REACHED, ""),
        false => (MISSED, " stroke-dasharray=\"5 4\""),
    }
}

/// An arrow with its label. Where it starts depends on its number, so that few cover each other.
fn arrow(out: &mut String, way: &Way, from: Box, to: Box, number: usize) {
    let (colour, dashes) = ink(way.reached);
    let marker = if way.reached { "reached" } else { "missed" };
    let spread = |one: Box| one.x + one.width / 2 + (number % 5) * 8 - 16.min(one.width / 2);
    let (x1, x2) = (spread(from), spread(to));
    let (path, x, y) = if to.y > from.y {
        let (y1, y2) = (from.y + from.height, to.y);
        let middle = (y1 + y2) / 2;
        (format!("M{x1},{y1}C{x1},{middle} {x2},{middle} {x2},{y2}"), (x1 + x2) / 2, middle)
    } else {
        // Back, or to the side: round the right edge of both.
        let (x1, x2) = (from.x + from.width, to.x + to.width);
        let shift = 6 * (number % 4);
        let (y1, y2) =
            (from.y + from.height / 2 + shift, to.y + to.height / 2 - shift.min(to.height / 2));
        let out_there = x1.max(x2) + 30 + shift;
        let path = format!("M{x1},{y1}C{out_there},{y1} {out_there},{y2} {x2},{y2}");
        (path, out_there - 10, (y1 + y2) / 2)
    };
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\"{dashes} marker-end=\"url(#{marker})\"/>"
    );
    text(out, x + 4, y, colour, "normal", &way.label);
}

fn text(out: &mut String, x: usize, y: usize, colour: &str, weight: &str, words: &str) {
    let words = visible(words).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\" font-weight=\"{weight}\">{words}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagram_shows_what_was_reached() {
        let state = |name: &str, reached, heat| State {
            name: name.into(),
            reached,
            heat,
            lines: vec![("on ePing".into(), reached)],
        };
        let way = |from, to, label: &str, reached| Way { from, to, label: label.into(), reached };
        let diagram = Diagram {
            title: "machine M".into(),
            start: 0,
            states: vec![
                state("Idle", true, Heat::Neutral),
                state("Busy", true, Heat::Hot),
                state("Lost", false, Heat::Cold),
            ],
            ways: vec![
                way(0, 1, "eStart", true),
                way(1, 0, "eDone", true),
                way(1, 2, "eFail", false),
            ],
        };
        insta::assert_snapshot!(diagram.svg());
    }
}
