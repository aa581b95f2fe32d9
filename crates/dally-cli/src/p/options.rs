//! The options of `p check`, for people who know them: each is taken for what Dally calls it, or answered
//! with what to do instead.

use std::ffi::OsString;

use crate::error::CliError;

/// An option of `p check`.
struct Known {
    names: &'static [&'static str],
    /// Whether a value follows.
    value: bool,
    /// What it is taken for, where `{}` stands for the value; or what to do instead.
    is: Is,
    about: &'static str,
}

enum Is {
    Same(&'static str),
    Other,
}

use Is::{Other, Same};

#[rustfmt::skip]
const OPTIONS: &[Known] = &[
    Known { names: &["-tc", "--testcase"], value: true, is: Same("-t {}"), about: "a test, or the beginning of several; all tests without it" },
    Known { names: &["-t", "--timeout"], value: true, is: Same("--time {}s"), about: "seconds; `-t` with a name is a test" },
    Known { names: &["-i", "--iterations", "-s"], value: true, is: Same("--schedules {}"), about: "schedules of each test" },
    Known { names: &["-ms", "--max-steps"], value: true, is: Same("--max-steps {}"), about: "steps of a schedule" },
    Known { names: &["--fail-on-maxsteps"], value: false, is: Same("--fail-on-max-steps"), about: "a schedule that does not end is a bug" },
    Known { names: &["--liveness-temperature-threshold"], value: true, is: Same("--temperature {}"), about: "steps that a spec may stay hot" },
    Known { names: &["--sch-random"], value: false, is: Same("--strategy random"), about: "" },
    Known { names: &["--sch-pct", "--sch-fairpct"], value: true, is: Same("--strategy pct:{}"), about: "always made fair after a while" },
    Known { names: &["--sch-pos"], value: false, is: Same("--strategy pos"), about: "" },
    Known { names: &["--sch-rl"], value: false, is: Same("--strategy ql"), about: "" },
    Known { names: &["--sch-feedback", "--sch-feedbackpos"], value: false, is: Same("--strategy portfolio"), about: "the default" },
    Known { names: &["--sch-feedbackpct"], value: true, is: Same("--strategy portfolio"), about: "" },
    Known { names: &["-sp", "--sch-probabilistic"], value: true, is: Other, about: "schedules with few changes of machine: `--strategy pct`" },
    Known { names: &["-md", "--mode"], value: true, is: Other, about: "what PEx does: `--exhaustive`, or `--search`" },
    Known { names: &["--sch-pex"], value: true, is: Other, about: "searches of states: `--exhaustive`, or `--search`" },
    Known { names: &["-r"], value: true, is: Same("--replay {}"), about: "a schedule of Dally's; those of `p check` are of another program" },
    Known { names: &["--explore"], value: false, is: Same("--keep-going"), about: "goes on after the first bug" },
    Known { names: &["-o", "--outdir"], value: true, is: Same("--out {}"), about: "where findings are written" },
    Known { names: &["-m", "--memout"], value: true, is: Same("--memory {}G"), about: "gigabytes, of a search" },
    Known { names: &["--pproj", "-pp"], value: true, is: Same("{}"), about: "the path stands for itself" },
    Known { names: &["--xml-trace"], value: false, is: Other, about: "traces as JSON: `--p-files DIR`, `--format json`" },
    Known { names: &["--graph", "--graph-bug"], value: false, is: Other, about: "states and what was covered: `--diagrams DIR`" },
    Known { names: &["--debug", "-d"], value: false, is: Other, about: "one execution in full: `-v`" },
    Known { names: &["--jvm-args", "--checker-args", "--psym-args"], value: true, is: Other, about: "there is nothing to pass on to: leave it out" },
];

/// The arguments of `dally check` with the options of `p check` in Dally's words.
pub fn translated(arguments: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, CliError> {
    let mut arguments = arguments.peekable();
    let mut out: Vec<OsString> = arguments.by_ref().take(2).collect();
    // `dally p check` is what a hand that knows `p check` writes.
    if out.get(1).is_some_and(|command| command == "p")
        && let Some(check) = arguments.next_if(|command| command == "check")
    {
        out[1] = check;
    }
    if out.get(1).is_none_or(|command| command != "check") {
        out.extend(arguments);
        return Ok(out);
    }
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().unwrap_or("");
        if text == "--" {
            out.push(argument);
            out.extend(arguments);
            break;
        }
        let (name, joined) = match text.split_once(['=', ':']) {
            Some((name, value)) if name.starts_with('-') => (name, Some(OsString::from(value))),
            _ => (text, None),
        };
        let known = OPTIONS.iter().find(|known| known.names.contains(&name));
        let Some(known) = known.filter(|known| known.value || joined.is_none()) else {
            out.push(argument);
            continue;
        };
        let value = match known.value {
            true => joined.or_else(|| arguments.next_if(|next| !is_option(next))),
            false => None,
        };
        if known.value && value.is_none() {
            return Err(CliError::NoValueOfP { option: name.to_owned() });
        }
        let value = value.unwrap_or_default();
        if name == "-t" && !is_number(&value) {
            out.extend(["-t".into(), value]);
            continue;
        }
        match known.is {
            Other => {
                return Err(CliError::NotOfDally { option: name.to_owned(), instead: known.about });
            }
            Same(template) => {
                // `-i` and `-s` are one option: the last one counts.
                let option = template.split(' ').next().unwrap_or_default();
                let before = out.iter().position(|given| given == "--schedules");
                if let (Some(at), "--schedules") = (before, option) {
                    out.drain(at..(at + 2).min(out.len()));
                }
                out.extend(template.split(' ').map(|part| match part.split_once("{}") {
                    None => part.into(),
                    Some((before, after)) => {
                        let mut part = OsString::from(before);
                        part.push(&value);
                        part.push(after);
                        part
                    }
                }));
            }
        }
        // P takes two bounds, of steps that need not be fair and of those that are.
        if known.names.contains(&"-ms")
            && let Some(fair) = arguments.next_if(is_number)
        {
            out.extend(["--max-fair-steps".into(), fair]);
        }
    }
    Ok(out)
}

fn is_option(argument: &OsString) -> bool {
    argument.to_str().is_some_and(|text| text.starts_with('-'))
}

fn is_number(argument: &OsString) -> bool {
    argument.to_str().is_some_and(|text| text.parse::<u64>().is_ok())
}

/// The table of `dally p help`.
pub fn table() -> String {
    let rows: Vec<[String; 3]> = OPTIONS
        .iter()
        .map(|known| {
            let argument = if known.value { " X" } else { "" };
            let is = match known.is {
                Same(template) => template.replace("{}", "X"),
                Other => "-".to_owned(),
            };
            [format!("{}{argument}", known.names.join(", ")), is, known.about.to_owned()]
        })
        .chain(
            ["--list-tests", "--schedules X", "--seed X", "--replay X", "-v, --verbose"]
                .map(|same| [same.to_owned(), same.to_owned(), String::new()]),
        )
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut out = String::from(
        "`dally check PATH` takes the options of `p check`, each for what Dally calls it:\n\n",
    );
    let heads = ["p check", "dally check", ""].map(str::to_owned);
    for [p, dally, about] in std::iter::once(heads).chain(rows) {
        out += format!("  {p:<first$}  {dally:<second$}  {about}").trim_end();
        out.push('\n');
    }
    out + "\nExit codes: 0 no bug, 1 a bug, 2 bad usage or bad input.\n\n\
           Other commands for P projects:\n  \
           dally p new-foreign PATH   write a Rust crate for foreign functions\n  \
           dally p grammar            print a TextMate grammar, for editors\n\n\
           The guide is docs/p.md.\n"
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::Cli;

    fn of(line: &str) -> Result<String, CliError> {
        let words = line.split(' ').map(OsString::from);
        let words = translated(words)?;
        Ok(words.join(" ".as_ref()).into_string().unwrap())
    }

    #[test]
    fn the_command_line_of_p_is_taken_for_what_dally_calls_it() {
        let line = "dally check M.pproj -tc X -i 100 -s 1000 -ms 5000 --sch-pct 3 --seed 7 \
                    -r FILE --timeout 60 -v --fail-on-maxsteps";
        let dally = "dally check M.pproj -t X --schedules 1000 --max-steps 5000 \
                     --strategy pct:3 --seed 7 --replay FILE --time 60s -v --fail-on-max-steps";
        assert_eq!(of(line).unwrap(), dally);
        assert_eq!(
            of("dally check a.p -t 60 -t tcOne").unwrap(),
            "dally check a.p --time 60s -t tcOne"
        );
        assert_eq!(
            of("dally check a.p -tc:tcOne --timeout=5").unwrap(),
            "dally check a.p -t tcOne --time 5s"
        );
        assert_eq!(of("dally p check -tc X").unwrap(), "dally check -t X");
        assert_eq!(of("dally p help").unwrap(), "dally p help");
        assert_eq!(of("dally replay -r x").unwrap(), "dally replay -r x");
    }

    #[test]
    fn what_dally_does_not_have_is_answered_with_what_to_do() {
        insta::assert_snapshot!(of("dally check a.p --sch-pex dfs").unwrap_err(), @r"
        --sch-pex is an option of `p check` that Dally does not have: searches of states: `--exhaustive`, or `--search`
          `dally p help` has them all
        ");
        insta::assert_snapshot!(of("dally check a.p -tc").unwrap_err(), @r"
        -tc needs a value
          `dally p help` has the options of `p check`
        ");
    }

    /// Every option that is taken for one of Dally's is one that Dally takes.
    #[test]
    fn every_option_is_translated_to_one_that_exists() {
        for known in OPTIONS.iter().filter(|known| matches!(known.is, Same(_))) {
            for name in known.names {
                let value = if known.value { " 7" } else { "" };
                let path = if name.contains("-pp") || *name == "--pproj" { "" } else { " a.p" };
                let line = translated(
                    format!("dally check{path} {name}{value}").split(' ').map(OsString::from),
                );
                let parsed = Cli::try_parse_from(line.unwrap());
                assert!(parsed.is_ok(), "{name}: {}", parsed.unwrap_err());
            }
        }
    }
}
