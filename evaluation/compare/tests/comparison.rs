//! Comparisons as a whole: what is written, that it does not depend on threads or interruptions,
//! and that files of other comparisons are told from one's own.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dally::contract::{Tag, WorkerId};
use dally::search::{EndSchedule, Point, Strategy, StrategyKind};
use dally::tasks::{TaskProgram, spawn};
use dally_compare::{
    Case, Compared, Contestant, Plan, Problem, TIMES, TRIALS, charts, compare, curves, summarise,
    table,
};
use dally_protocols::find;

/// A directory that is gone when the test is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path =
            std::env::temp_dir().join(format!("dally-compare-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn trials(&self) -> String {
        fs::read_to_string(self.0.join(TRIALS)).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// Two programs, three strategies, four runs: 24 trials that take no time.
fn plan() -> Plan {
    let case = |name, bug| Case::bundled(find(name).unwrap(), Some(bug));
    Plan {
        cases: vec![case("stale-cache", "stale-read"), case("german", "forgets-sharer")],
        contestants: ["random", "pct:3", "round-robin"]
            .map(|name| Contestant::from(name.parse::<StrategyKind>().unwrap()))
            .into(),
        runs: 4,
        schedules: 300,
        ..Plan::default()
    }
}

fn done(plan: &Plan, scratch: &Scratch) -> Compared {
    compare(plan, Some(&scratch.0), &|_| {}, &Arc::default()).unwrap()
}

fn without_times(compared: Compared) -> Compared {
    let trials = compared.trials.into_iter();
    Compared {
        trials: trials.map(|trial| dally_compare::Trial { seconds: None, ..trial }).collect(),
        ..compared
    }
}

#[test]
fn searches_with_reduction_do_the_same_in_every_run_and_end_after_as_many_executions() {
    let contestants = ["dpor", "concolic"].map(|name| name.parse().unwrap()).into();
    let mut plan = Plan { contestants, runs: 2, ..plan() };
    let compared = compare(&plan, None, &|_| {}, &Arc::default()).unwrap();
    let ran = |trials: &[dally_compare::Trial]| -> Vec<_> {
        trials.iter().map(|trial| (trial.found, trial.schedules)).collect()
    };
    assert_eq!(ran(&compared.trials[..4]), ran(&compared.trials[4..]));
    assert!(compared.trials[0].found, "{:?}", compared.trials[0]);
    assert_eq!(curves(&plan, 10, &Arc::default()).len(), 0);
    // Less than it takes.
    plan.schedules = compared.trials[0].schedules - 1;
    let stopped = compare(&plan, None, &|_| {}, &Arc::default()).unwrap();
    assert_eq!(ran(&stopped.trials[..1]), [(false, plan.schedules)]);
}

#[test]
fn every_run_is_a_line_in_the_order_of_the_plan() {
    let scratch = Scratch::new("lines");
    let plan = Plan { runs: 2, ..plan() };
    done(&plan, &scratch);
    insta::assert_snapshot!(scratch.trials(), @r#"
        program,bug,granularity,strategy,parameters,run,seed,max_steps,limit,time_limit,observe_every,version,found,schedules,steps,cut,observations
        stale-cache,stale-read,await points,random,random,0,15705154679855640592,500,300,,16,0.1.0,1,27,319,0,22
        stale-cache,stale-read,await points,pct:3,pct(3),0,829362457749376250,500,300,,16,0.1.0,1,35,417,0,22
        stale-cache,stale-read,await points,round-robin,round-robin,0,8294305240970935879,500,300,,16,0.1.0,0,300,3300,0,12
        german,forgets-sharer,per-send,random,random,0,1917591640841514391,300,300,,16,0.1.0,1,3,169,0,3
        german,forgets-sharer,per-send,pct:3,pct(3),0,4285700020696441104,300,300,,16,0.1.0,1,79,3623,0,125
        german,forgets-sharer,per-send,round-robin,round-robin,0,2695264946949361374,300,300,,16,0.1.0,1,15,686,0,39
        stale-cache,stale-read,await points,random,random,1,17514837961139171815,500,300,,16,0.1.0,1,13,147,0,2
        stale-cache,stale-read,await points,pct:3,pct(3),1,43688866962378262,500,300,,16,0.1.0,1,8,100,0,2
        stale-cache,stale-read,await points,round-robin,round-robin,1,1450958488821329192,500,300,,16,0.1.0,0,300,3300,0,12
        german,forgets-sharer,per-send,random,random,1,16447751794523124650,300,300,,16,0.1.0,1,3,158,0,3
        german,forgets-sharer,per-send,pct:3,pct(3),1,2476614144351214460,300,300,,16,0.1.0,1,31,1450,0,80
        german,forgets-sharer,per-send,round-robin,round-robin,1,11072886322343175916,300,300,,16,0.1.0,1,12,558,0,2
    "#);
    let times = fs::read_to_string(scratch.0.join(TIMES)).unwrap();
    assert_eq!(times.lines().count(), 1 + 12);
}

#[test]
fn summaries_tell_programs_and_strategies_apart() {
    let plan = plan();
    let compared = compare(&plan, None, &|_| {}, &Arc::default()).unwrap();
    let summaries = summarise(&plan, &compared.trials);
    insta::assert_snapshot!(table::text(&summaries, table::Times::Left), @r#"
        program                 strategy     found      95%  median schedules  mean  median steps   mean  observations
        stale-cache:stale-read  random         4/4  51-100%                13    18           147    213            10
                                pct:3          4/4  51-100%                10    26           116    311            13
                                round-robin    0/4    0-49%              >300     -             -      -            12
        german:forgets-sharer   random         4/4  51-100%                 3     8           169    425            17
                                pct:3          4/4  51-100%                31    48         1,450  2,211            82
                                round-robin    4/4  51-100%                12    11           550    486            12
    "#);
}

#[test]
fn trials_do_not_depend_on_the_number_of_threads() {
    let one = compare(&plan(), None, &|_| {}, &Arc::default()).unwrap();
    let many = compare(&Plan { threads: 3, ..plan() }, None, &|_| {}, &Arc::default()).unwrap();
    assert_eq!(without_times(one), without_times(many));
}

#[test]
fn no_trial_depends_on_which_others_there_are() {
    let all = compare(&plan(), None, &|_| {}, &Arc::default()).unwrap();
    let mut few = plan();
    few.cases.remove(0);
    few.contestants.remove(1);
    let few = compare(&few, None, &|_| {}, &Arc::default()).unwrap();
    let figures = |compared: &Compared, case, contestant| -> Vec<_> {
        let own = compared.trials.iter().filter(|t| t.case == case && t.contestant == contestant);
        own.map(|t| (t.run, t.found, t.schedules, t.steps, t.observations)).collect()
    };
    assert_eq!(figures(&few, 0, 0), figures(&all, 1, 0));
    assert_eq!(figures(&few, 0, 1), figures(&all, 1, 2));
}

#[test]
fn a_comparison_that_was_interrupted_goes_on_to_the_same_file() {
    let whole = Scratch::new("whole");
    done(&plan(), &whole);
    for k in [0, 1, 7, 15] {
        let cut = Scratch::new(&format!("cut-{k}"));
        let (seen, stop) = (Cell::new(0), Arc::new(AtomicBool::new(k == 0)));
        let watch = |progress: &dally_compare::Progress<'_>| {
            seen.set(progress.done);
            stop.store(progress.done >= k, Ordering::Relaxed);
        };
        let plan = Plan { threads: 2, ..plan() };
        let interrupted = compare(&plan, Some(&cut.0), &watch, &stop).unwrap();
        assert!(seen.get() >= k && !interrupted.complete, "{k}");
        assert!(whole.trials().starts_with(&cut.trials()), "{k}");
        let resumed = done(&plan, &cut);
        assert_eq!(resumed.resumed, interrupted.trials.len(), "{k}");
        assert!(resumed.complete && resumed.trials.iter().all(|trial| trial.seconds.is_some()));
        assert_eq!(cut.trials(), whole.trials(), "{k}");
    }
}

#[test]
fn a_line_that_was_cut_off_is_written_again() {
    let scratch = Scratch::new("cut-line");
    done(&plan(), &scratch);
    let whole = scratch.trials();
    for cut in [whole.len() - 1, whole.len() - 9, 20, 0] {
        fs::write(scratch.0.join(TRIALS), &whole[..cut]).unwrap();
        done(&plan(), &scratch);
        assert_eq!(scratch.trials(), whole, "{cut}");
    }
    // Nothing that counts is lost with the times.
    fs::remove_file(scratch.0.join(TIMES)).unwrap();
    assert!(done(&plan(), &scratch).trials.iter().all(|trial| trial.seconds.is_none()));
    assert_eq!(scratch.trials(), whole);
}

#[test]
fn more_runs_go_on_from_fewer_and_fewer_are_part_of_more() {
    let scratch = Scratch::new("more");
    let few = done(&Plan { runs: 1, ..plan() }, &scratch);
    let more = done(&plan(), &scratch);
    assert_eq!((few.trials.len(), more.resumed, more.trials.len()), (6, 6, 24));
    let whole = scratch.trials();
    let again = done(&Plan { runs: 2, ..plan() }, &scratch);
    assert_eq!((again.resumed, again.trials.len(), again.complete), (12, 12, true));
    assert_eq!(scratch.trials(), whole);
}

/// The strategies of the plan, the second with other parameters.
fn changed() -> Vec<Contestant> {
    let mut contestants = plan().contestants;
    contestants[1] = Contestant::new("pct:3", |seed, max_steps| {
        "pct:4".parse::<StrategyKind>().unwrap().build(seed, max_steps)
    });
    contestants
}

#[test]
fn a_file_of_another_comparison_is_left_alone() {
    let scratch = Scratch::new("foreign");
    done(&plan(), &scratch);
    let whole = scratch.trials();
    let refuse = |plan: Plan| {
        let problem = compare(&plan, Some(&scratch.0), &|_| {}, &Arc::default()).unwrap_err();
        assert_eq!(scratch.trials(), whole);
        problem.to_string().replace(&scratch.0.display().to_string(), "DIR")
    };
    insta::assert_snapshot!(refuse(Plan { seed: 7, ..plan() }), @r#"
        `DIR/trials.csv` is of another comparison: line 2 begins
            stale-cache,stale-read,await points,random,random,0,15705154679855640592,500,300,,16,0.1.0,1,27,319,0,22
          and here it would be
            stale-cache,stale-read,await points,random,random,0,11983693265033637218,500,300,,16,0.1.0,
          Programs, strategies with their parameters, seed, budgets and the version of Dally must be the same for a comparison to go on (only runs may be more). Give another directory, or remove this file.
    "#);
    for other in [
        Plan { schedules: 400, ..plan() },
        Plan { contestants: plan().contestants[..2].to_vec(), ..plan() },
        Plan { time: Some(std::time::Duration::from_secs(1)), ..plan() },
        Plan { observe_every: 1, ..plan() },
        // Another strategy behind the same name.
        Plan { contestants: changed(), ..plan() },
    ] {
        assert!(refuse(other).contains("is of another comparison"));
    }
    fs::write(scratch.0.join(TRIALS), "name,age\nada,36\n").unwrap();
    let problem = compare(&plan(), Some(&scratch.0), &|_| {}, &Arc::default()).unwrap_err();
    assert!(matches!(problem, Problem::Foreign { line: 1, .. }), "{problem}");
}

#[test]
fn a_directory_that_cannot_be_made_is_a_problem_in_words() {
    let scratch = Scratch::new("no-directory");
    let file = scratch.0.join("file");
    fs::write(&file, "").unwrap();
    let problem = compare(&plan(), Some(&file.join("out")), &|_| {}, &Arc::default()).unwrap_err();
    assert!(problem.to_string().contains("cannot be used"), "{problem}");
}

#[test]
fn curves_count_what_is_seen_and_done_and_charts_show_it() {
    let mut plan = plan();
    plan.contestants.truncate(2);
    let curves = curves(&plan, 100, &Arc::default());
    assert_eq!(curves.len(), 4);
    for curve in &curves {
        assert_eq!(curve.coverage.len(), 50);
        assert_eq!(curve.coverage.last().unwrap().0, 100);
        assert!(curve.coverage.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
    }
    // Messages by their type where there are some, workers by their name where there are none.
    let names = |curve: &dally_compare::Curve| -> Vec<String> {
        curve.actions[0].1.keys().cloned().collect()
    };
    assert_eq!(names(&curves[2]), ["Acknowledge", "Ask", "Grant", "Invalidate", "Next"]);
    assert!(names(&curves[0]).len() >= 3, "{:?}", names(&curves[0]));
    let again = dally_compare::curves(&Plan { threads: 2, ..plan.clone() }, 100, &Arc::default());
    assert_eq!(curves, again);

    let files: Vec<String> = charts::coverages(&plan, &curves)
        .into_iter()
        .chain(charts::actions(&plan, &curves))
        .map(|(name, chart)| {
            assert!(!chart.series.is_empty(), "{name}");
            name
        })
        .collect();
    insta::assert_snapshot!(files.join("\n"), @r"
    coverage-stale-cache-stale-read.svg
    coverage-german-forgets-sharer.svg
    actions-stale-cache-stale-read-random.svg
    actions-stale-cache-stale-read-pct-3.svg
    actions-german-forgets-sharer-random.svg
    actions-german-forgets-sharer-pct-3.svg
    ");
    assert!(charts::coverage_csv(&plan, &curves).lines().count() == 1 + 4 * 50);
}

#[test]
fn survival_charts_have_a_line_for_each_strategy() {
    let plan = plan();
    let compared = compare(&plan, None, &|_| {}, &Arc::default()).unwrap();
    let charts = charts::survivals(&plan, &compared.trials);
    assert_eq!(charts.len(), 2);
    let series = &charts[0].1.series;
    assert_eq!(series.len(), 3);
    assert_eq!(series[0].points.first(), Some(&(1.0, 1.0)));
    assert_eq!(series[0].points.last().unwrap().1, 0.0, "random finds it in every run");
}

/// Always the worker that came last.
#[derive(Clone)]
struct NewestFirst;

impl Strategy for NewestFirst {
    fn begin(&mut self, schedule: u64) -> bool {
        schedule == 0
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        Ok(point.enabled[point.enabled.len() - 1])
    }

    fn value(&mut self, _of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
        Ok(0)
    }
}

#[test]
fn ones_own_program_and_strategy_can_be_compared() {
    let program = TaskProgram::new("order", || async {
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let tasks = [1, 2].map(|n| {
            let order = order.clone();
            spawn(async move { order.lock().unwrap().push(n) })
        });
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [1, 2], "the second was first");
    });
    let plan = Plan {
        cases: vec![Case::own("order", program, 100)],
        contestants: vec![
            "random".parse::<StrategyKind>().unwrap().into(),
            Contestant::new("newest-first", |_, _| Box::new(NewestFirst)),
        ],
        runs: 2,
        ..Plan::default()
    };
    let compared = compare(&plan, None, &|_| {}, &Arc::default()).unwrap();
    let figures: Vec<_> = compared.trials.iter().map(|t| (t.found, t.schedules)).collect();
    assert_eq!((figures[1], figures[3]), ((true, 1), (true, 1)));
}
