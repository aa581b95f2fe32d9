//! A test that fails keeps its schedule, and runs it first from then on. Each fixture runs as `cargo test` runs
//! it, in a process of its own and in a package of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

mod fixtures {
    use std::sync::Arc;

    use dally::tasks::sync::Mutex;
    use dally::tasks::{spawn, yield_now};

    /// Without `FIXTURE` it passes; otherwise two tasks increment without a lock (`broken`), with one
    /// (`mended`), or one task that takes other steps (`changed`).
    #[dally::test(strategy = "random")]
    async fn lost_update() {
        let fixture = std::env::var("FIXTURE").unwrap_or_default();
        if fixture == "changed" {
            yield_now().await;
            yield_now().await;
            return;
        }
        let count = Arc::new(Mutex::new(0));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let count = Arc::clone(&count);
                spawn(async move {
                    let read = *count.lock().await;
                    *count.lock().await = read + 1;
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let count = *count.lock().await;
        assert!(fixture != "broken" || count == 2, "an update was lost");
    }

    /// A channel is closed between two operations that are not awaited, which shows only if there are points
    /// before operations.
    #[dally::test(strategy = "random")]
    async fn between_operations() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let fixture = std::env::var("FIXTURE").unwrap_or_default();
        let (sender, mut receiver) = dally::tasks::sync::mpsc::unbounded_channel();
        let sent = Arc::new(AtomicU32::new(0));
        let told = Arc::clone(&sent);
        let task = spawn(async move {
            for number in 0..2 {
                let _ = sender.send(number);
                told.fetch_add(1, Ordering::Relaxed);
            }
        });
        let first = receiver.recv().await;
        let seen = sent.load(Ordering::Relaxed);
        task.await.unwrap();
        assert!(first.is_some() && (seen != 1 || fixture != "broken"), "it was seen half-way");
    }

    /// `broken`: fails from 1,000,003 on. `changed`: takes other steps before, and fails for that number alone.
    #[dally::test(strategy = "random")]
    async fn a_number() {
        let fixture = std::env::var("FIXTURE").unwrap_or_default();
        if fixture == "changed" {
            spawn(yield_now()).await.unwrap();
        }
        let number = dally::tasks::input_in("number", 0..=i64::MAX);
        assert!(fixture != "broken" || number < 1_000_003, "too large");
        assert!(fixture != "changed" || number != 1_000_003, "the very same");
    }

    #[dally::test(strategy = "random", should_fail = "as it should")]
    async fn fails_as_it_should() {
        panic!("as it should");
    }
}

/// A package in which fixtures run.
struct Package(PathBuf);

impl Package {
    fn new(name: &str) -> Package {
        let name = format!("dally-regressions-{}-{name}", std::process::id());
        let home = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&home).unwrap();
        Package(home)
    }

    /// What a fixture prints, and whether it passes.
    fn run(&self, test: &str, fixture: &str, variables: &[(&str, &str)]) -> (String, bool) {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("fixtures::{test}"), "--nocapture"])
            .env("CARGO_MANIFEST_DIR", &self.0)
            .env("DALLY_OUT", self.0.join("out"))
            .env("FIXTURE", fixture)
            .env_remove("DALLY_REGRESSIONS")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let [out, err] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (out + &err, output.status.success())
    }

    fn regressions(&self) -> Vec<PathBuf> {
        dally::testing::regressions::files(&self.0.join("dally-regressions"))
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn name(file: &Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_failing_test_keeps_its_schedule_and_fails_by_it_before_anything_is_explored() {
    let package = Package::new("keeps");
    let (text, passed) = package.run("lost_update", "broken", &[]);
    assert!(!passed);
    let kept = package.regressions();
    assert_eq!(kept.len(), 1);
    let told = format!("The schedule is kept in dally-regressions/{}: commit it", name(&kept[0]));
    assert!(text.contains(&told) && text.contains("found: in schedule"), "{text}");

    let (text, passed) = package.run("lost_update", "broken", &[]);
    assert!(!passed);
    assert!(
        text.contains(&format!("The regression dally-regressions/{} still fails", name(&kept[0])))
    );
    assert!(text.contains("an update was lost") && !text.contains("found: in schedule"), "{text}");
    // It is no second finding.
    assert_eq!(package.regressions(), kept);
}

#[test]
fn inputs_that_failed_are_tried_again_when_their_schedule_fits_no_more() {
    let package = Package::new("inputs");
    let (text, passed) = package.run("a_number", "broken", &[]);
    assert!(!passed && text.contains("input number = 1000003"), "{text}");
    let (text, passed) = package.run("a_number", "changed", &[("DALLY_REGRESSIONS", "off")]);
    assert!(passed, "{text}");
    let (text, passed) = package.run("a_number", "changed", &[]);
    assert!(!passed && text.contains("the very same"), "{text}");
    assert!(text.contains("no longer fits the program"), "{text}");
}

#[test]
fn a_mended_program_passes_and_says_that_its_regression_does() {
    let package = Package::new("mended");
    assert!(!package.run("lost_update", "broken", &[]).1);
    let file = name(&package.regressions()[0]);
    let (text, passed) = package.run("lost_update", "mended", &[]);
    assert!(passed, "{text}");
    assert!(
        text.contains(&format!("note: the regression dally-regressions/{file} passes")),
        "{text}"
    );
    assert!(text.contains("no bug found in 1,000 schedules"), "{text}");
}

#[test]
fn a_regression_that_no_longer_fits_is_kept_with_a_hint_and_no_error() {
    let package = Package::new("unfit");
    assert!(!package.run("lost_update", "broken", &[]).1);
    let (text, passed) = package.run("lost_update", "changed", &[]);
    assert!(passed, "{text}");
    assert!(
        text.contains("no longer fits the program and is kept; `dally regressions prune`"),
        "{text}"
    );
    assert_eq!(package.regressions().len(), 1);
    // A file that is damaged is told, and is no error either.
    std::fs::write(&package.regressions()[0], "dally schedule 1\n").unwrap();
    let (text, passed) = package.run("lost_update", "mended", &[]);
    assert!(passed && text.contains("note: a regression: "), "{text}");
}

#[test]
fn what_is_switched_off_or_expected_is_not_kept() {
    let package = Package::new("off");
    assert!(!package.run("lost_update", "broken", &[("DALLY_REGRESSIONS", "off")]).1);
    assert!(package.run("fails_as_it_should", "", &[]).1);
    assert_eq!(package.regressions(), Vec::<PathBuf>::new());
    // And what is there is left alone.
    assert!(!package.run("lost_update", "broken", &[]).1);
    let (text, _) = package.run("lost_update", "broken", &[("DALLY_REGRESSIONS", "off")]);
    assert!(text.contains("found: in schedule"), "{text}");
}

#[test]
fn whoever_asks_is_told_what_became_of_each_and_nothing_else_is_run() {
    let package = Package::new("told");
    assert!(!package.run("lost_update", "broken", &[]).1);
    let file = package.regressions().remove(0);
    let told = package.0.join("told");
    for (fixture, word) in [("broken", "fails"), ("mended", "passes"), ("changed", "unfit")] {
        let variable = ("DALLY_REGRESSIONS_TOLD", told.to_str().unwrap());
        let (text, _) = package.run("lost_update", fixture, &[variable]);
        assert!(!text.contains("schedules of"), "{text}");
        let line = std::fs::read_to_string(&told).unwrap();
        assert_eq!(line, format!("{word} {}\n", file.display()));
        std::fs::remove_file(&told).unwrap();
    }
}

#[test]
fn a_test_tells_other_programs_in_the_form_that_they_want() {
    let package = Package::new("formats");
    let in_form = |form: &'static str, fixture| {
        package
            .run("lost_update", fixture, &[("DALLY_FORMAT", form), ("DALLY_REGRESSIONS", "off")])
            .0
    };
    let written = |kind: &str| {
        let file = package.0.join(format!("out/fixtures.lost_update.{kind}"));
        std::fs::read_to_string(file).unwrap()
    };
    in_form("junit", "broken");
    assert!(written("junit.xml").contains("failures=\"1\" errors=\"0\""));
    in_form("junit", "mended");
    assert!(written("junit.xml").contains("failures=\"0\" errors=\"0\""));
    in_form("sarif", "broken");
    assert!(written("sarif").contains("\"ruleId\": \"panic\""));
    in_form("json", "broken");
    assert!(written("run.json").contains("\"format\": \"dally-run\""));
    let text = in_form("github", "broken");
    assert!(text.contains("\n::error file=crates/dally/tests/regressions.rs,line="), "{text}");
    // What should fail and does is no failure.
    let (text, _) = package.run("fails_as_it_should", "", &[("DALLY_FORMAT", "github")]);
    assert!(text.contains("\n::notice title=fixtures%3A%3Afails_as_it_should::"), "{text}");
}

#[test]
fn a_regression_is_replayed_with_the_settings_that_it_was_recorded_with() {
    let package = Package::new("settings");
    // With points before awaits alone, the task sends both numbers in one step.
    let (text, passed) = package.run("between_operations", "broken", &[]);
    assert!(passed, "{text}");
    let operations = [("DALLY_POINTS", "operations")];
    let (text, passed) = package.run("between_operations", "broken", &operations);
    assert!(!passed && package.regressions().len() == 1, "{text}");
    // The test has other settings now, and the schedule still means what it meant.
    let (text, passed) = package.run("between_operations", "broken", &[]);
    assert!(!passed && text.contains("still fails"), "{text}");
    let (text, passed) = package.run("between_operations", "mended", &[]);
    assert!(passed && text.contains(" passes\n"), "{text}");
    // What comes after it is explored with the settings of the test.
    assert!(text.contains("(await points)"), "{text}");
}
