//! Inputs that are solved for by what they bring, with orders that a strategy draws.

use std::sync::Arc;

use dally_concolic::{Coverage, Drawn};
use dally_mpil::MpilProgram;
use dally_search::reduction::Inputs;
use dally_search::{Ended, Options, Report, StrategyKind};

fn searched(text: &str, inputs: Inputs, options: Options) -> (Report, Coverage) {
    let program = MpilProgram::compile("guided.mpil", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    dally_concolic::search(Arc::new(program), inputs, options, Arc::new(()))
}

fn options(schedules: u64) -> Options {
    let strategy = "random".parse::<StrategyKind>().unwrap().build(0, 10_000);
    Options { schedules, strategy, keep_going: true, ..Options::default() }
}

fn drawn(coverage: &Coverage) -> Drawn {
    coverage.drawn.expect("orders were drawn")
}

/// One process with three inputs: one order, and a path for each sum that `n` can come to.
const ONE_ORDER: &str = "
    process p {
        var a, b, c, n
        input a
        input b
        input c in 0..=9
        if a < b goto first
        n = n + 1
      first:
        if b < c goto second
        n = n + 2
      second:
        if a == c goto third
        n = n + 4
      third:
        if n * n == 9 goto last
        a = 0
      last:
    }";

#[test]
fn with_one_order_generational_search_takes_every_path_once_and_ends() {
    let (all, _) = searched(ONE_ORDER, Inputs::DepthFirst, options(1));
    let (report, coverage) = searched(ONE_ORDER, Inputs::Generational, options(1_000));
    assert_eq!(report.ended, Ended::Exhausted);
    assert_eq!((report.schedules, all.schedules), (7, 7));
    let Drawn { different, paths, solved, strayed, dropped } = drawn(&coverage);
    assert_eq!((different, paths, solved, strayed, dropped), (7, 7, 6, 0, 0));
    assert_eq!(
        report.stated.as_deref(),
        Some(
            "7 different ones by the order of steps or the path, 7 paths, 3 branches on inputs, 3 taken \
             both ways"
        )
    );
    assert_eq!(
        dally_report::text::coverage(&report),
        format!("exhausted: 7 schedules, {}", report.stated.as_deref().unwrap())
    );
}

/// Five numbers that have to be right at once, from processes whose orders are too many to go through.
const NEEDLE: &str = "
    process lock {
        var digit
        receive digit
        if digit != 1000 goto out
        receive digit
        if digit != 2001 goto out
        receive digit
        if digit != 3002 goto out
        receive digit
        if digit != 4003 goto out
        receive digit
        if digit != 5004 goto out
        error \"open\"
      out:
    }
    process thief[i in 0..6] {
        var digit, turn
        input digit in 0..=1000000
        receive turn
        send lock, digit
    }
    setup {
        var i
      more:
        send thief[i], i
        i = i + 1
        if i < 6 goto more
    }";

#[test]
fn what_no_path_has_done_yet_is_solved_for_first() {
    let found = |inputs| {
        let (report, coverage) =
            searched(NEEDLE, inputs, Options { keep_going: false, ..options(2_000) });
        assert_eq!(drawn(&coverage).strayed, 0);
        report.findings.first().map(|finding| (finding.bug.message().to_owned(), finding.found_at))
    };
    let generational = found(Inputs::Generational);
    let (message, at) = generational.expect("found by generational search");
    assert!(message == "open" && at < 500, "{message} in schedule {at}");
    let (message, at) =
        found(Inputs::Random).expect("found by random search that solves where it stalls");
    assert!(message == "open" && at > 32, "{message} in schedule {at}");
    // No strategy draws five such numbers.
    let program = MpilProgram::compile("guided.mpil", NEEDLE, &[]).unwrap();
    let alone = dally_search::run(Arc::new(program), options(2_000), Arc::new(()));
    assert_eq!(alone.findings.len(), 0);
}

/// Two messages in either order, which differ by the path only if the inputs do.
const TWO_ORDERS: &str = "
    process sum {
        var x, y
        receive x
        receive y
        if x <= y goto done
        x = y
      done:
    }
    process client[i in 0..2] {
        var a
        input a in 0..=9
        if a == 5 goto five
        send sum, a
        goto done
      five:
        send sum, 100
      done:
    }";

#[test]
fn orders_and_paths_are_counted_as_the_exhaustive_search_counts_them() {
    let (all, _) = searched(TWO_ORDERS, Inputs::DepthFirst, options(1));
    assert_eq!(all.ended, Ended::Exhausted);
    for inputs in [Inputs::Generational, Inputs::Random] {
        let (report, coverage) = searched(TWO_ORDERS, inputs, options(1_000));
        let Drawn { different, strayed, .. } = drawn(&coverage);
        assert_eq!((different, strayed), (all.schedules, 0), "{inputs}");
        // Orders are drawn, so nobody knows that there are no others.
        assert_eq!((report.ended, report.schedules), (Ended::Schedules, 1_000));
        assert_eq!(report.strategy, format!("concolic({inputs}, random)"));
    }
}

#[test]
fn the_same_seed_gives_the_same_report_and_findings_replay() {
    let run = || {
        let (mut report, coverage) = searched(NEEDLE, Inputs::Random, options(600));
        report.elapsed = Default::default();
        (report, coverage)
    };
    let ((one, covered), (other, also)) = (run(), run());
    assert_eq!((format!("{one:?}"), covered), (format!("{other:?}"), also));
    let [finding] = &one.findings[..] else { panic!("{:?}", one.findings) };
    let program = MpilProgram::compile("guided.mpil", NEEDLE, &[]).unwrap();
    let replayed = dally_search::replay(
        Arc::new(program),
        &finding.schedule,
        dally_search::Mode::Exact,
        1,
        std::time::Duration::from_secs(10),
    );
    assert_eq!(replayed.bug.map(|bug| bug.message().to_owned()).as_deref(), Some("open"));
}

#[test]
fn a_strategy_that_goes_on_from_the_schedule_before_does_not_draw_orders() {
    let strategy = "dfs".parse::<StrategyKind>().unwrap().build(0, 1_000);
    let (report, _) =
        searched(TWO_ORDERS, Inputs::Generational, Options { strategy, ..options(50) });
    assert_eq!(report.schedules, 50);
    assert!(
        report.notes[0].starts_with("Orders were drawn by portfolio(random, "),
        "{:?}",
        report.notes
    );
}

/// A path has up to 1,500 branches, and each can be turned round.
const LONG: &str = "
    process p {
        var x, n
        input x
      more:
        n = n + 1
        if x == n goto done
        if n < 1500 goto more
      done:
    }";

#[test]
fn long_paths_and_many_of_them_take_bounded_work() {
    let (report, coverage) = searched(LONG, Inputs::Generational, options(200));
    assert_eq!((report.schedules, drawn(&coverage).paths), (200, 200));
}
