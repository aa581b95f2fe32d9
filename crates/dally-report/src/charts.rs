//! Line charts as SVG, the same byte for byte for the same figures.

use std::fmt::Write;

use dally_core::words::visible;

/// A chart of lines over one pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The heading.
    pub title: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// The label of the vertical axis.
    pub y: String,
    /// The horizontal scale. The vertical one is linear.
    pub x_scale: Scale,
    /// How points are joined.
    pub shape: Shape,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
}

/// How an axis is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Evenly, from 0.
    Linear,
    /// By powers of ten, from 1.
    Logarithmic,
}

/// How points are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// By straight lines.
    Lines,
    /// Each holds until the next.
    Steps,
}

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right. Those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// What lies between two figures around the line, as (x, low, high), joined as its points are; nothing for a
    /// line without an interval.
    pub band: Vec<(f64, f64, f64)>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 360.0;

/// Colours that colour-blind people can distinguish (Okabe and Ito).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"];
/// When the colours are used up, they are repeated with the next dashes.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

impl Chart {
    /// The chart as an SVG document.
    pub fn to_svg(&self) -> String {
        let right = self.largest(|point| point.0).max(match self.x_scale {
            Scale::Linear => 1.0,
            Scale::Logarithmic => 10.0,
        });
        let (top, y_step) = round_up(self.largest(|point| point.1));
        let frame = Frame { right, top, x_scale: self.x_scale };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n\
             <title>{title}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"28\" font-size=\"16\">{title}</text>\n",
            title = escaped(&self.title),
        );
        self.axes(&frame, y_step, &mut out);
        for (place, series) in self.series.iter().enumerate() {
            self.line(series, place, &frame, &mut out);
        }
        out += "</svg>\n";
        out
    }

    fn largest(&self, of: impl Fn(&(f64, f64)) -> f64) -> f64 {
        let all = self.series.iter().flat_map(|series| &series.points).map(of);
        all.filter(|number| number.is_finite()).fold(0.0, f64::max)
    }

    fn axes(&self, frame: &Frame, y_step: f64, out: &mut String) {
        let mut y = 0.0;
        while y <= frame.top * 1.0001 {
            let at = frame.y(y);
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#ddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                number(y),
            );
            y += y_step;
        }
        for x in frame.x_ticks() {
            let at = frame.x(x);
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1} {BOTTOM}v5\" stroke=\"#000\"/>\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                BOTTOM + 20.0,
                number(x),
            );
        }
        let (middle, side) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#000\"/>\n\
             <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {side:.1}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>",
            BOTTOM + 42.0,
            escaped(&self.x),
            escaped(&self.y),
        );
    }

    fn line(&self, series: &Series, place: usize, frame: &Frame, out: &mut String) {
        let stroke = format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"",
            COLOURS[place % COLOURS.len()],
            DASHES[place / COLOURS.len() % DASHES.len()],
        );
        let mut path = String::new();
        for &(x, y) in series.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let (x, y) = (frame.x(x), frame.y(y));
            let _ = match (path.is_empty(), self.shape) {
                (true, _) => write!(path, "M{x:.1} {y:.1}"),
                (false, Shape::Lines) => write!(path, "L{x:.1} {y:.1}"),
                (false, Shape::Steps) => write!(path, "H{x:.1}V{y:.1}"),
            };
        }
        let band = self.band(&series.band, frame);
        if !band.is_empty() {
            let colour = COLOURS[place % COLOURS.len()];
            let _ = writeln!(out, "<path d=\"{band}\" fill=\"{colour}\" fill-opacity=\"0.15\"/>");
        }
        let name = escaped(&series.name);
        let (left, y) = (RIGHT + 20.0, TOP + 18.0 * place as f64);
        let _ = writeln!(
            out,
            "<path d=\"{path}\" {stroke}><title>{name}</title></path>\n\
             <path d=\"M{left} {y:.1}h24\" {stroke}/><text x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
            left + 30.0,
            y + 4.0,
        );
    }
}

impl Chart {
    /// The outline of a band: its upper edge from left to right, then its lower one back.
    fn band(&self, band: &[(f64, f64, f64)], frame: &Frame) -> String {
        let finite =
            |(x, low, high): &&(f64, f64, f64)| [x, low, high].iter().all(|n| n.is_finite());
        let (mut upper, mut lower): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
        for &(x, low, high) in band.iter().filter(finite) {
            if let (Shape::Steps, Some(&(_, above)), Some(&(_, below))) =
                (self.shape, upper.last(), lower.last())
            {
                upper.push((x, above));
                lower.push((x, below));
            }
            upper.push((x, high));
            lower.push((x, low));
        }
        let mut path = String::new();
        for (x, y) in upper.into_iter().chain(lower.into_iter().rev()) {
            let to = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{to}{:.1} {:.1}", frame.x(x), frame.y(y));
        }
        path
    }
}

struct Frame {
    right: f64,
    top: f64,
    x_scale: Scale,
}

impl Frame {
    fn x(&self, x: f64) -> f64 {
        let share = match self.x_scale {
            Scale::Linear => x / self.right,
            Scale::Logarithmic => x.max(1.0).log10() / self.right.log10(),
        };
        LEFT + share * (RIGHT - LEFT)
    }

    fn y(&self, y: f64) -> f64 {
        BOTTOM - y / self.top * (BOTTOM - TOP)
    }

    fn x_ticks(&self) -> Vec<f64> {
        match self.x_scale {
            Scale::Linear => {
                let (_, step) = round_up(self.right);
                (0..).map(|n| f64::from(n) * step).take_while(|&x| x <= self.right).collect()
            }
            Scale::Logarithmic => {
                (0..).map(|n| 10_f64.powi(n)).take_while(|&x| x <= self.right).collect()
            }
        }
    }
}

/// The end of an axis for this greatest figure, and the steps: 1, 2 or 5 times a power of ten.
fn round_up(reach: f64) -> (f64, f64) {
    if reach <= 0.0 {
        return (1.0, 0.2);
    }
    let rough = reach / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    ((reach / step - 1e-9).ceil() * step, step)
}

fn number(x: f64) -> String {
    let short = |x: f64| {
        let text = format!("{x:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match x {
        x if x >= 1e6 => format!("{}M", short(x / 1e6)),
        x if x >= 1e4 => format!("{}k", short(x / 1e3)),
        x => short(x),
    }
}

fn escaped(text: &str) -> String {
    visible(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        Chart {
            title: "a & b: runs without a bug".into(),
            x: "schedules".into(),
            y: "share of runs".into(),
            x_scale: Scale::Logarithmic,
            shape: Shape::Steps,
            series: vec![
                Series {
                    name: "random".into(),
                    points: vec![(1.0, 1.0), (10.0, 0.5), (1e3, 0.5)],
                    band: vec![(1.0, 0.9, 1.0), (10.0, 0.3, 0.7), (1e3, 0.3, 0.7)],
                },
                Series {
                    name: "pct:3".into(),
                    points: vec![(1.0, 1.0), (100.0, 0.0)],
                    ..Series::default()
                },
            ],
        }
    }

    #[test]
    fn a_chart_has_axes_lines_and_a_legend() {
        insta::assert_snapshot!(chart().to_svg());
    }

    #[test]
    fn a_chart_of_nothing_is_still_a_chart() {
        let empty = Chart { series: Vec::new(), x_scale: Scale::Linear, ..chart() };
        assert!(empty.to_svg().ends_with("</svg>\n"));
        assert!(!empty.to_svg().contains("NaN"));
        let odd = Series {
            name: "odd".into(),
            points: vec![(f64::NAN, 1.0), (0.0, f64::INFINITY)],
            band: vec![(1.0, f64::NAN, 1.0)],
        };
        let odd = Chart { series: vec![odd], ..chart() };
        assert!(!odd.to_svg().contains("NaN") && !odd.to_svg().contains("inf"));
    }

    #[test]
    fn names_of_strangers_are_shown_and_not_acted_on() {
        let hostile = || "<b>\x1b[2J\u{202e}".to_owned();
        let series =
            vec![Series { name: hostile(), points: vec![(1.0, 1.0)], ..Series::default() }];
        let chart = Chart { title: hostile(), x: hostile(), y: hostile(), series, ..chart() };
        let svg = chart.to_svg();
        assert_eq!(svg.matches(r"&lt;b&gt;\u{1b}[2J\u{202e}").count(), 6, "{svg}");
        assert!(!svg.contains(dally_core::words::is_hidden));
    }

    #[test]
    fn more_lines_than_colours_get_other_dashes() {
        let line = |n: usize| Series {
            name: format!("s{n}"),
            points: vec![(1.0, 1.0)],
            ..Series::default()
        };
        let many = Chart { series: (0..9).map(line).collect(), ..chart() };
        let svg = many.to_svg();
        let first = svg.matches("stroke=\"#0072b2\" stroke-width=\"2\" stroke-dasharray=\"\"");
        let ninth = svg.matches("stroke=\"#0072b2\" stroke-width=\"2\" stroke-dasharray=\"7 3\"");
        assert_eq!((first.count(), ninth.count()), (2, 2));
    }

    #[test]
    fn axes_end_at_round_numbers() {
        let near = |(top, step): (f64, f64), wanted: (f64, f64)| {
            assert!(
                (top - wanted.0).abs() < 1e-9 && (step - wanted.1).abs() < 1e-9,
                "{top} {step}"
            );
        };
        near(round_up(1.0), (1.0, 0.2));
        near(round_up(1_812.0), (2_000.0, 500.0));
        near(round_up(5.0), (5.0, 1.0));
        near(round_up(0.0), (1.0, 0.2));
        assert_eq!([0.2, 500.0, 12_000.0, 2.5e6].map(number), ["0.2", "500", "12k", "2.5M"]);
    }
}
