//! What a user of P meets: foreign functions, what stories show, files of P's own, its command line. The
//! projects are in `p-projects/`.

mod command;

use std::path::Path;

use insta::assert_snapshot;

use crate::command::{Ran, Scratch, dally, without_time, without_times};

/// A directory with these projects.
fn with(name: &str, projects: &[&str]) -> Scratch {
    let scratch = Scratch::new(name);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/p-projects");
    for project in projects {
        std::fs::copy(from.join(project), scratch.0.join(project)).unwrap();
    }
    scratch
}

/// The steps of a story, and the heading above them.
fn story(ran: &Ran) -> String {
    let lines = ran.out.lines().skip_while(|line| {
        !line.starts_with("What happened") && !line.starts_with("One execution")
    });
    let lines = lines.take_while(|line| !line.starts_with("In the end"));
    lines.map(|line| line.trim_end().to_owned() + "\n").collect::<String>().trim_end().to_owned()
}

fn read(scratch: &Scratch, file: &str) -> String {
    std::fs::read_to_string(scratch.0.join(file)).unwrap()
}

mod seeing {
    use super::*;

    #[test]
    fn the_send_that_breaks_a_spec_is_in_the_story_with_the_spec() {
        let scratch = with("spec-at-send", &["spec_at_send.p"]);
        let ran = dally(&["check", "spec_at_send.p", "--seed", "1"], &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert_snapshot!(story(&ran));
    }

    #[test]
    fn an_execution_that_passes_is_shown_with_its_prints_and_what_specs_handle() {
        let scratch = with("spec-passes", &["spec_passes.p"]);
        let ran = dally(&["check", "spec_passes.p", "-v", "--schedules", "20"], &scratch);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_snapshot!(without_times(&ran.out).split("\ntest ").next().unwrap());
    }

    #[test]
    fn an_execution_that_passes_is_cut_where_those_of_the_run_are() {
        let scratch = with("long-step", &[]);
        let entry = "var i: int; while (i < 30) { if ($) { i = i + 1; } }";
        let machine = format!("machine Main {{ start state Init {{ entry {{ {entry} }} }} }}");
        let project = format!("{machine}\ntest tcLong [main=Main]: {{ Main }};\n");
        std::fs::write(scratch.0.join("long.p"), project).unwrap();
        let check = ["check", "long.p", "-v", "--p-files", "out", "--strategy", "random"];
        let bounds = ["--schedules", "1", "--step-bound", "5"];
        let ran = dally(&[&check[..], &bounds].concat(), &scratch);
        assert_eq!(ran.code, 0, "{}", ran.err);
        // Without the bound there are at least thirty.
        assert!(story(&ran).matches("chooses").count() <= 5, "{}", ran.out);
        assert!(scratch.0.join("out/tcLong.trace.json").exists());
    }

    #[test]
    fn specs_that_observe_an_announcement_are_shown_one_by_one() {
        let scratch = with("announced", &["announced.p"]);
        let ran = dally(&["check", "announced.p", "-v", "--schedules", "1"], &scratch);
        assert_snapshot!(story(&ran));
    }

    #[test]
    fn handled_null_is_shown() {
        let scratch = with("null-handler", &["null_handler.p"]);
        let ran = dally(&["check", "null_handler.p", "-v", "--schedules", "1"], &scratch);
        assert_snapshot!(story(&ran));
    }

    #[test]
    fn elements_of_enums_have_their_names_and_null_and_texts_are_written() {
        let scratch = with("enums", &["enums.p"]);
        let ran = dally(&["check", "enums.p", "-v", "--schedules", "1"], &scratch);
        assert_snapshot!(story(&ran));
    }

    #[test]
    fn choices_are_shown_as_the_program_sees_them() {
        let scratch = with("choices", &["choices.p"]);
        let ran = dally(&["check", "choices.p", "--exhaustive"], &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert_snapshot!(story(&ran));
    }

    #[test]
    fn an_assertion_is_called_one_and_so_is_an_error_of_the_language() {
        let scratch = with("no-message", &["no_message.p"]);
        let ran = dally(&["check", "no_message.p", "--seed", "1"], &scratch);
        let heads = ran.out.lines().filter(|line| line.starts_with("bug[") || line.contains("BUG"));
        let heads: Vec<&str> =
            heads.map(|line| line.split("  1 schedule").next().unwrap()).collect();
        assert_snapshot!(heads.join("\n"));
    }

    #[test]
    fn a_long_path_does_not_cut_the_message_off() {
        let scratch = with("long-path", &["assertion.p"]);
        let long =
            format!("{}/{}", "a-directory-with-a-long-name".repeat(5), "another-one".repeat(9));
        std::fs::create_dir_all(scratch.0.join(&long)).unwrap();
        let project = format!("{long}/assertion.p");
        std::fs::rename(scratch.0.join("assertion.p"), scratch.0.join(&project)).unwrap();
        let ran = dally(&["check", &project], &scratch);
        let message = "which is not what anybody who reads this far would expect of it";
        let told: Vec<&str> =
            ran.out.lines().filter(|line| line.contains("should be one")).collect();
        assert_eq!(told.iter().filter(|line| line.ends_with(message)).count(), 2, "{}", ran.out);
    }

    #[test]
    fn a_schedule_finds_its_project_from_another_directory() {
        let scratch = with("found-again", &["assertion.p"]);
        let ran = dally(&["check", "assertion.p"], &scratch);
        assert_eq!(ran.code, 1);
        let found = Scratch(scratch.0.join(".dally"));
        let schedule = found.schedules()[0].display().to_string();
        std::fs::create_dir_all(scratch.0.join("below/deep")).unwrap();
        let elsewhere = Scratch::new("found-from-here");
        for place in [&elsewhere.0, &scratch.0.join("below/deep"), &found.0] {
            let folder = scratch.0.display().to_string();
            let file = scratch.0.join("assertion.p").display().to_string();
            for line in [
                &["replay", &schedule][..],
                &["check", "-r", &schedule],
                &["check", &file, "-r", &schedule],
                &["check", &folder, "-r", &schedule],
            ] {
                let ran = command::command(line, place).output().unwrap();
                let ran = command::ran(ran, place);
                assert_eq!((ran.code, &*ran.err), (1, ""), "{line:?} in {}", place.display());
                assert!(ran.out.contains("--> assertion.p:"), "{}", ran.out);
                assert!(ran.out.contains(" |       assert n == 1"), "{}", ran.out);
            }
        }
    }
}

mod foreign {
    use super::*;

    #[test]
    fn a_missing_function_is_told_with_the_three_ways_to_give_it() {
        let scratch = with("missing", &["coin.p"]);
        let ran = dally(&["check", "coin.p"], &scratch);
        assert_eq!(ran.code, 2);
        assert_snapshot!(ran.err);
    }

    #[test]
    fn stubs_in_p_give_bodies_and_a_replay_has_them_too() {
        let scratch = with("coin", &["coin.p", "coin_stubs.p"]);
        let check = ["check", "coin.p", "--foreign", "coin_stubs.p", "--exhaustive", "--out", "."];
        let ran = dally(&check, &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert_snapshot!(story(&ran));
        let schedule = scratch.schedules()[0].display().to_string();
        let replayed = dally(&["replay", &schedule], &scratch);
        assert_eq!(replayed.code, 1, "{}", replayed.err);
    }

    #[test]
    fn stubs_say_what_a_foreign_type_is() {
        let scratch = with("blob", &["blob.p", "blob_stubs.p"]);
        let ran = dally(&["check", "blob.p", "--foreign", "blob_stubs.p"], &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert_snapshot!(story(&ran));
    }

    #[test]
    fn a_stub_of_a_machine_has_its_variables() {
        let scratch = with("of-machine", &["of_machine.p", "of_machine_stubs.p"]);
        let ran = dally(&["check", "of_machine.p", "--foreign", "of_machine_stubs.p"], &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.out.contains("it is 2"), "{}", ran.out);
    }

    #[test]
    fn stubs_that_do_not_fit_are_refused() {
        let scratch = with("wrong-stubs", &["coin.p", "wrong_stubs.p"]);
        let ran = dally(&["check", "coin.p", "--foreign", "wrong_stubs.p"], &scratch);
        assert_eq!(ran.code, 2);
        assert_snapshot!(ran.err);
    }

    #[test]
    fn a_stub_file_that_is_not_there_is_told() {
        let scratch = with("no-stubs", &["coin.p"]);
        let ran = dally(&["check", "coin.p", "--foreign", "nowhere.p"], &scratch);
        assert_eq!(ran.code, 2);
        assert_snapshot!(ran.err);
    }

    #[test]
    fn automatic_stubs_choose_among_few_values_and_are_named_in_a_warning() {
        let scratch = with("automatic", &["automatic.p"]);
        let check = ["check", "automatic.p", "--stub-foreign", "--exhaustive", "--out", "."];
        let ran = dally(&check, &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert_snapshot!("automatic_warning", ran.err);
        assert_snapshot!("automatic_story", story(&ran));
        let schedule = scratch.schedules()[0].display().to_string();
        assert_eq!(dally(&["replay", &schedule], &scratch).code, 1);
    }

    #[test]
    fn the_new_crate_is_the_one_that_is_compiled_and_run_by_its_own_test() {
        let scratch = Scratch::new("new-foreign");
        let projects = scratch.0.join("foreign/tests/p-projects");
        std::fs::create_dir_all(&projects).unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/p-projects/dice.p");
        std::fs::copy(from, projects.join("dice.p")).unwrap();
        let new = ["p", "new-foreign", "foreign/tests/p-projects/dice.p"];
        let ran = dally(&new, &scratch);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_snapshot!("new_foreign", ran.out);
        let version = env!("CARGO_PKG_VERSION");
        let manifest = read(&scratch, "foreign/Cargo.toml").replace(version, "VERSION");
        assert_snapshot!("new_foreign_manifest", manifest);
        for file in ["src/lib.rs", "tests/model.rs"] {
            let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/new-foreign").join(file);
            let written = read(&scratch, &format!("foreign/{file}"));
            if std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always") {
                std::fs::write(&kept, &written).unwrap();
            }
            assert_eq!(std::fs::read_to_string(kept).unwrap(), written, "{file}");
        }
        let again = dally(&new, &scratch);
        assert_eq!(again.code, 2);
        assert_snapshot!("new_foreign_again", again.err);
    }
}

mod files {
    use super::*;

    /// What a finding of a ring of so many machines takes as JSON, for each of its steps: on standard
    /// output, and in its file.
    fn bytes_per_step(machines: usize) -> [usize; 2] {
        let scratch = Scratch::new(&format!("ring-{machines}"));
        let source = RING.replace("SIZE", &machines.to_string());
        std::fs::write(scratch.0.join("ring.p"), source).unwrap();
        let line =
            ["check", "ring.p", "--strategy", "random", "--schedules", "1", "--format", "json"];
        let ran = dally(&line, &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let steps = &document["tests"][0]["run"]["findings"][0]["steps"];
        let steps = steps.as_array().unwrap().len();
        assert!(steps > 10 * machines, "{steps}");
        let found = Scratch(scratch.0.join(".dally"));
        let saved = found.schedules()[0].with_extension("json");
        [ran.out.len(), std::fs::metadata(saved).unwrap().len() as usize].map(|all| all / steps)
    }

    const RING: &str = r#"
        event eToken: (from: machine, n: int); event eNext: machine; event eDone;
        machine Node {
          var next: machine;
          start state Ring {
            on eNext do (it: machine) { next = it; }
            on eToken do (it: (from: machine, n: int)) {
              if (it.n == 0) { send it.from, eDone; }
              else { send next, eToken, (from = it.from, n = it.n - 1); }
            }
          }
        }
        machine Main {
          start state Begin {
            entry {
              var nodes: seq[machine];
              var i: int;
              while (i < SIZE) { nodes += (i, new Node()); i = i + 1; }
              i = 0;
              while (i < SIZE) { send nodes[i], eNext, nodes[(i + 1) % SIZE]; i = i + 1; }
              send nodes[0], eToken, (from = this, n = 5 * SIZE);
            }
            on eDone do { assert false, "the token is back"; }
          }
        }
        test tc [main=Main]: { Main, Node };"#;

    /// A hundred thousand steps of thousands of machines stay below twenty megabytes.
    #[test]
    fn the_json_of_a_finding_grows_with_its_steps_and_not_with_machines_times_steps() {
        for machines in [20, 200] {
            let [printed, saved] = bytes_per_step(machines);
            assert!(printed < 215 && saved < 200, "{machines}: {printed} and {saved} a step");
        }
    }

    #[test]
    fn the_trace_and_the_coverage_are_written_as_p_writes_them() {
        let scratch = with("p-files", &["receives.p"]);
        let ran =
            dally(&["check", "receives.p", "--schedules", "50", "--p-files", "out"], &scratch);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_snapshot!("p_trace", read(&scratch, "out/tcReceives.trace.json"));
        assert_snapshot!("p_coverage", read(&scratch, "out/tcReceives.coverage.txt"));
    }

    #[test]
    fn the_trace_of_a_finding_ends_with_its_assertion() {
        let scratch = with("p-files-bug", &["spec_at_send.p"]);
        let ran = dally(&["check", "spec_at_send.p", "--p-files", "out"], &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        let trace: serde_json::Value =
            serde_json::from_str(&read(&scratch, "out/tcRising.trace.json")).unwrap();
        let last = trace.as_array().unwrap().iter().rev().take(2).collect::<Vec<_>>();
        assert_snapshot!(format!("{:#}\n{:#}", last[1], last[0]));
    }

    #[test]
    fn a_diagram_of_each_machine_shows_what_was_covered() {
        let scratch = with("diagrams", &["lights.p"]);
        let ran = dally(&["check", "lights.p", "--schedules", "50", "--diagrams", "svg"], &scratch);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let mut names: Vec<_> = std::fs::read_dir(scratch.0.join("svg"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["tcLights.Light.svg", "tcLights.Main.svg", "tcLights.Works.svg"]);
        assert_snapshot!(read(&scratch, "svg/tcLights.Light.svg"));
    }

    #[test]
    fn the_grammar_is_json_and_colours_every_keyword() {
        let scratch = Scratch::new("grammar");
        let ran = dally(&["p", "grammar"], &scratch);
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str::<serde_json::Value>(&ran.out).unwrap();
        assert_snapshot!(ran.out);
    }
}

mod command_line {
    use super::*;

    #[test]
    fn the_line_of_a_p_user_is_taken() {
        let scratch = with("p-line", &["spec_passes.p"]);
        let line = "check spec_passes.p -tc tcP -i 100 -s 20 -ms 500 --sch-pct 3 --seed 7 \
                    --timeout 60 --explore";
        let ran = dally(&line.split_whitespace().collect::<Vec<_>>(), &scratch);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let summary: Vec<String> =
            without_time(&ran.out).lines().take(4).map(str::to_owned).collect();
        assert_snapshot!(summary.join("\n"));
    }

    #[test]
    fn a_schedule_is_replayed_by_the_letter_that_p_has_for_it() {
        let scratch = with("p-replay", &["assertion.p"]);
        assert_eq!(dally(&["check", "assertion.p", "-o", "."], &scratch).code, 1);
        let schedule = scratch.schedules()[0].display().to_string();
        let ran = dally(&["check", "assertion.p", "-r", &schedule], &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
    }

    #[test]
    fn a_schedule_that_does_not_end_is_a_bug_if_one_asks_for_it() {
        let scratch = with("p-max-steps", &["endless.p"]);
        let line = ["check", "endless.p", "-ms", "50", "-s", "3"];
        assert_eq!(dally(&line, &scratch).code, 0);
        let ran = dally(&[&line[..], &["--fail-on-maxsteps"]].concat(), &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.out.starts_with("bug[step-bound]"), "{}", ran.out);
    }

    #[test]
    fn an_option_that_dally_does_not_have_is_answered() {
        let scratch = with("p-unknown", &["endless.p"]);
        let ran = dally(&["check", "endless.p", "--mode", "pex"], &scratch);
        assert_eq!(ran.code, 2);
        assert_snapshot!(ran.err);
    }

    #[test]
    fn the_table_of_options_is_printed() {
        let ran = dally(&["p", "help"], &Scratch::new("p-help"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert_snapshot!(ran.out);
    }
}
