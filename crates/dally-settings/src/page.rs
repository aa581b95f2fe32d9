//! The settings as Markdown.

use crate::{Group, OF_ATTRIBUTES, OF_REPLAYS, SETTINGS, Setting};

const BEGINNING: &str = "\
# Settings

What a run can be told. This page is made of the table in `crates/dally-settings`, of which options, methods, variables
and flags are made too.

A setting has one name. `max_steps` is

- the option `#[dally::test(max_steps = 2000)]` of a test,
- the method `Test::new(..).max_steps(2000)` of `dally::testing::Test`,
- the environment variable `DALLY_MAX_STEPS=2000`, which tests and the command line read,
- the flag `dally check raft-v1 --max-steps 2000`.

## Which one counts

1. the flag,
2. the variable,
3. what `dally.toml` says of this test by its name,
4. the option or method; on the command line what suits the protocol,
5. what `dally.toml` says of all tests,
6. the default.

So a nightly build can turn the budget of all tests up without a change to the code, and whoever types a flag gets what
they typed.

A variable that begins with `DALLY_` and is none of these is most likely misspelt: tests and the command line warn of
it. A value that cannot be read is an error and not ignored; in an attribute it is an error of the compiler. Methods take
`Duration` and numbers of bytes as well as `\"30s\"` and `\"2G\"`. A switch is on as a flag alone (`--exact`), and either with
a value (`--shrink=false`); in variables `1` and `0` will do.

## dally.toml

Tests read the nearest `dally.toml` in the directory of their package or above it. It needs no more than the settings that
differ from their defaults:

```toml
timers = \"idle\"
schedules = 5000
out = \"findings\"

[test.pools]
strategy = \"pct:3\"

[test.\"pools::slow\"]
schedules = 100
```

`[test.NAME]` is for the test of this name, as `cargo test` prints it, and for all tests in the module of this name. In a
workspace the name of the crate can come first (`\"bank::pools::slow\"`). Where several names fit, all count, and the longest
one most. Paths begin where the file is. What is wrong in the file is an error of every test, with line and column.
";

/// The page `docs/settings.md`.
pub fn page() -> String {
    let mut page = BEGINNING.to_owned();
    for group in groups(SETTINGS) {
        page += &format!(
            "\n## {}\n\n| setting | variable | flag | takes | default | meaning |\n\
             |---|---|---|---|---|---|\n",
            group.title()
        );
        for setting in of(SETTINGS, group) {
            page += &format!(
                "| `{}` | `{}` | `--{}` | {} | {} | {} |\n",
                setting.name,
                setting.variable(),
                setting.flag(),
                setting.kind.words(),
                setting.default.map_or_else(String::new, |default| format!("`{default}`")),
                setting.help(),
            );
        }
        for setting in of(SETTINGS, group) {
            page += &details(setting);
        }
    }
    for group in groups(OF_ATTRIBUTES).into_iter().chain([Group::Replays]) {
        let what = if group == Group::Replays { "variable" } else { "option" };
        page += &format!("\n## {}\n\n| {what} | takes | meaning |\n|---|---|---|\n", group.title());
        for setting in of(OF_ATTRIBUTES, group).chain(of(OF_REPLAYS, group)) {
            let variable = setting.variable();
            let name = if group == Group::Replays { &variable } else { setting.name };
            page += &format!("| `{name}` | {} | {} |\n", setting.kind.words(), setting.help());
        }
    }
    page
}

/// The table of options in the documentation of `#[dally::test]`.
pub fn options() -> String {
    let mut table = "| option | takes | meaning |\n|---|---|---|\n".to_owned();
    for setting in SETTINGS.iter().chain(OF_ATTRIBUTES) {
        let default = setting.default.map_or_else(String::new, |default| format!(" (`{default}`)"));
        table += &format!(
            "| `{}` | {} | {}{default} |\n",
            setting.name,
            setting.kind.words(),
            setting.help()
        );
    }
    table
}

/// The other paragraphs of a setting's text, and what its names stand for.
fn details(setting: &Setting) -> String {
    let (more, names) = (setting.more(), setting.kind.names());
    let mut text = String::new();
    if !more.is_empty() || names.is_some() {
        text += &format!("\n`{}`: {}\n", setting.name, setting.help());
    }
    for paragraph in more {
        text += &format!("{paragraph}\n");
    }
    if let Some(names) = names {
        text += "\n";
        for name in names.all {
            let also = name.long.map_or_else(String::new, |long| format!(" or `{long}`"));
            let changes =
                if name.parameter { format!(" or `{}:CHANGES`", name.name) } else { also };
            text += &format!("- `{}`{changes}: {}\n", name.name, name.help);
        }
    }
    text
}

/// The groups in the order of their first settings.
fn groups(settings: &[Setting]) -> Vec<Group> {
    let mut groups: Vec<Group> = settings.iter().map(|setting| setting.group).collect();
    groups.dedup();
    groups
}

fn of(settings: &[Setting], group: Group) -> impl Iterator<Item = &Setting> {
    settings.iter().filter(move |setting| setting.group == group)
}
