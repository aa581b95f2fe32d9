//! Every setting of the table can be reached in every way, and by each of them it reaches its field.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dally::search::Clocks;
use dally::search::liveness::Fairness;
use dally::search::reduction::{Inputs, Reduction};
use dally::search::strata::{CachePolicy, SearchKind};
use dally::settings::{Bytes, Isolate, Settings};
use dally::testing::Test;
use dally_settings::{Kind, SETTINGS, Setting};

/// A value that is not the default, as a variable or a flag has it.
fn another(setting: &Setting) -> &'static str {
    match setting.kind {
        Kind::Count { .. } => "7",
        Kind::Time => "7s",
        Kind::Bytes => "7M",
        Kind::Switch if setting.default == Some("true") => "false",
        Kind::Switch => "true",
        Kind::Name(names) => names.all[2.min(names.all.len() - 1)].name,
        Kind::Strategy => "pct:7",
        _ => "some/path",
    }
}

/// The lines of the settings that differ from the defaults, as (field, value).
fn changed(settings: &Settings) -> Vec<(String, String)> {
    let lines = |settings: &Settings| -> Vec<(String, String)> {
        let text = format!("{settings:?}");
        let fields = text.trim_start_matches("Settings { ").trim_end_matches(" }");
        let mut found: Vec<(String, String)> = Vec::new();
        for part in fields.split(", ") {
            match part.split_once(": ") {
                Some((name, value)) => found.push((name.to_owned(), value.to_owned())),
                None => found.last_mut().unwrap().1 += part,
            }
        }
        found
    };
    let defaults = lines(&Settings::default());
    lines(settings).into_iter().filter(|line| !defaults.contains(line)).collect()
}

#[test]
fn every_setting_is_reached_by_its_variable_and_changes_its_field_alone() {
    for setting in SETTINGS {
        let mut settings = Settings::default();
        let variable = setting.variable();
        settings
            .override_by(|name| (name == variable).then(|| another(setting).to_owned()))
            .unwrap();
        let fields: Vec<String> = changed(&settings).into_iter().map(|(name, _)| name).collect();
        assert_eq!(fields, [setting.name], "{variable}");
    }
}

#[test]
fn every_setting_has_a_method_that_takes_values_and_texts() {
    let by_texts = Test::new("crate", "crate::test")
        .strategy("pct:7")
        .seed(7)
        .learned("some/path")
        .schedules(7)
        .time("7s")
        .max_steps(7)
        .max_fair_steps(7)
        .step_bound(7)
        .threads(7)
        .temperature(7)
        .confirm_temperature(7)
        .fairness("strong")
        .fail_on_max_steps(true)
        .isolate("process")
        .step_time("7s")
        .keep_going(true)
        .shrink(false)
        .page(false)
        .regressions(false)
        .format("junit")
        .clocks("full")
        .out("some/path")
        .search("hybrid")
        .reduction("needs-delay")
        .inputs("random")
        .delays(7)
        .delta(7)
        .memory("7M")
        .cache("stop")
        .exact(true)
        .with_explorer(true)
        .task_panics("unobserved")
        .timers("idle")
        .points("operations")
        .fault_budget(7)
        .settings()
        .clone();
    let by_values = Test::new("crate", "crate::test")
        .strategy("pct:7")
        .seed(7)
        .learned(Path::new("some/path"))
        .schedules(7)
        .time(Duration::from_secs(7))
        .max_steps(7)
        .max_fair_steps(7)
        .step_bound(7)
        .threads(7)
        .temperature(7)
        .confirm_temperature(7)
        .fairness(Fairness::Strong)
        .fail_on_max_steps(true)
        .isolate(Isolate::Process)
        .step_time(Duration::from_secs(7))
        .keep_going(true)
        .shrink(false)
        .page(false)
        .regressions(false)
        .format("junit")
        .clocks(Clocks::Full)
        .out(PathBuf::from("some/path"))
        .search(SearchKind::Hybrid)
        .reduction(Reduction::NeedsDelay)
        .inputs(Inputs::Random)
        .delays(7)
        .delta(7)
        .memory(Bytes(7 << 20))
        .cache(CachePolicy::Stop)
        .exact(true)
        .with_explorer(true)
        .task_panics("unobserved")
        .timers("idle")
        .points("operations")
        .fault_budget(7)
        .settings()
        .clone();
    assert_eq!(format!("{by_texts:?}"), format!("{by_values:?}"));
    let set: Vec<String> = changed(&by_texts).into_iter().map(|(name, _)| name).collect();
    // The explorer of a test is one of the type of the test, and beside its settings.
    let all = SETTINGS.iter().map(|setting| setting.name).filter(|name| *name != "explorer");
    assert_eq!(set, all.collect::<Vec<_>>());
    let mut by_variables = Settings::default();
    by_variables
        .override_by(|name| {
            let setting = SETTINGS.iter().find(|setting| setting.variable() == name)?;
            (setting.name != "explorer").then(|| another(setting).to_owned())
        })
        .unwrap();
    assert_eq!(format!("{by_variables:?}"), format!("{by_texts:?}"));
}

#[test]
fn a_variable_wins_over_a_method_and_a_method_over_the_default() {
    let mut settings = Test::new("crate", "crate::test").seed(5).max_steps(50).settings().clone();
    settings.override_by(|name| (name == "DALLY_SEED").then(|| "6".to_owned())).unwrap();
    assert_eq!(
        (settings.seed, settings.max_steps, settings.threads),
        (6, 50, Settings::default().threads)
    );
}

/// Where a crate that re-exports Dally has it.
mod tools {
    pub use dally as testing;
}

/// Options of the attribute reach the methods: each of these tests would fail otherwise.
#[dally::test(
    strategy = "random",
    seed = 7,
    schedules = 3,
    time = "1h",
    max_steps = 500,
    threads = 1,
    temperature = 100,
    fairness = "strong",
    fail_on_max_steps = true,
    step_time = Duration::from_secs(20),
    keep_going = true,
    shrink = false,
    out = std::env::temp_dir(),
    memory = 1 << 20,
    cache = "all",
    exact = false,
    with_explorer = false,
    crate = crate::tools::testing
)]
async fn options_of_schedules() {}

#[dally::test(
    search = "ses",
    explorer = "rr",
    delays = 3,
    delta = 2,
    memory = "16M",
    exact = false
)]
async fn options_of_a_search() {}

/// A supervisor, whose worker panics.
fn supervisor() -> dally::tasks::TaskProgram {
    dally::tasks::TaskProgram::new("supervisor", || async {
        let worker = dally::tasks::spawn(async { panic!("a fault") });
        let error: dally::tasks::JoinError = worker.await.map(|never: ()| never).unwrap_err();
        assert!(error.is_panic());
    })
}

#[test]
fn a_setting_of_tasks_reaches_the_program() {
    let test = || Test::new("dally", "settings::supervisor").schedules(2);
    test().task_panics("unobserved").timers("idle").points("operations").run(supervisor());
    test().should_fail("a fault").run(supervisor());
}
