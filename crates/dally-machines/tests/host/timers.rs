//! Timers on tokio's clock, paused: it jumps to the next timer when nobody has anything to do.

use std::time::Duration;

use dally_machines::Cx;
use dally_macros::machine;

use crate::log::quiet;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct After(u64, &'static str);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Every(u64, &'static str);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Cancel(&'static str);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tick(&'static str);
/// Blocks the thread, so that several timers come due at once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Nap(u64);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Close;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Open;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Halt;

/// Does with timers what it is told to, and announces ticks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Clock {
    ticks: u32,
}

#[machine(states(Opened, Closed))]
impl Clock {
    #[on(_, After)]
    fn after(&mut self, cx: &mut Cx<Self>, After(time, name): After) {
        cx.after(ms(time), Tick(name));
    }

    #[on(_, Every)]
    fn every(&mut self, cx: &mut Cx<Self>, Every(time, name): Every) {
        cx.every(ms(time), Tick(name));
    }

    #[on(_, Cancel)]
    fn cancel(&mut self, cx: &mut Cx<Self>, Cancel(name): Cancel) {
        cx.cancel(&Tick(name));
    }

    #[on(Opened, Tick)]
    fn tick(&mut self, cx: &mut Cx<Self>, Tick(name): Tick) {
        self.ticks += 1;
        cx.announce(name);
        if self.ticks == 4 {
            cx.cancel(&Tick("four times"));
        }
    }

    #[on(_, Nap)]
    fn nap(&mut self, _: &mut Cx<Self>, Nap(time): Nap) {
        std::thread::sleep(ms(time));
    }

    #[on(_, Halt)]
    fn stop(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }

    #[goto(Opened, Close => Closed)]
    #[goto(Closed, Open => Opened)]
    #[defer(Closed, Tick)]
    const RULES: () = ();
}

#[tokio::test(start_paused = true)]
async fn a_timer_fires_once_after_its_time() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, After(30, "slow")).unwrap();
    host.send(clock, After(20, "fast")).unwrap();
    tokio::time::sleep(ms(100)).await;
    assert_eq!(log.timed(), ["20: fast", "30: slow"]);
    assert!(host.shutdown().await.is_clean());
}

#[tokio::test(start_paused = true)]
async fn a_timer_armed_again_is_replaced() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, After(20, "once")).unwrap();
    tokio::time::sleep(ms(10)).await;
    host.send(clock, After(20, "once")).unwrap();
    tokio::time::sleep(ms(100)).await;
    assert_eq!(log.timed(), ["30: once"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_timer_does_not_fire_and_others_do() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, After(20, "never")).unwrap();
    host.send(clock, After(20, "yes")).unwrap();
    host.send(clock, Cancel("never")).unwrap();
    tokio::time::sleep(ms(100)).await;
    assert_eq!(log.lines(), ["yes"]);
}

#[tokio::test(start_paused = true)]
async fn a_tick_that_waits_in_the_inbox_can_still_be_cancelled() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, Close).unwrap();
    host.send(clock, After(10, "taken back")).unwrap();
    host.send(clock, After(10, "kept")).unwrap();
    tokio::time::sleep(ms(50)).await;
    host.send(clock, Cancel("taken back")).unwrap();
    host.send(clock, Open).unwrap();
    host.idle().await;
    assert_eq!(log.timed(), ["50: kept"]);
}

#[tokio::test(start_paused = true)]
async fn a_periodic_timer_keeps_its_rhythm_until_it_is_cancelled() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, Every(10, "four times")).unwrap();
    tokio::time::sleep(ms(200)).await;
    let expected = ["10: four times", "20: four times", "30: four times", "40: four times"];
    assert_eq!(log.timed(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_periodic_timer_does_not_tick_before_its_last_tick_was_handled() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, Every(10, "tick")).unwrap();
    host.send(clock, Close).unwrap();
    tokio::time::sleep(ms(45)).await;
    host.send(clock, Open).unwrap();
    tokio::time::sleep(ms(13)).await;
    // The tick of 10 was deferred until 45. The next, due at 20, follows it at once; those of
    // 30 and 40 are not made up for.
    assert_eq!(log.timed(), ["45: tick", "45: tick", "55: tick"]);
}

#[tokio::test(start_paused = true)]
async fn a_period_of_nothing_is_a_millisecond() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, Every(0, "four times")).unwrap();
    tokio::time::sleep(ms(100)).await;
    assert_eq!(log.lines().len(), 4);
    assert_eq!(log.timed()[3], "3: four times");
}

#[tokio::test(start_paused = true)]
async fn a_time_that_no_clock_reaches_is_never() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, After(u64::MAX, "never")).unwrap();
    host.send(clock, After(5, "soon")).unwrap();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(log.timed(), ["5: soon"]);
    assert!(host.shutdown().await.is_clean());
}

#[tokio::test(start_paused = true)]
async fn timers_end_with_their_machine() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, Every(10, "tick")).unwrap();
    tokio::time::sleep(ms(15)).await;
    host.send(clock, Halt).unwrap();
    host.wait().await;
    tokio::time::sleep(ms(100)).await;
    assert_eq!(log.lines(), ["tick"]);
}

#[tokio::test]
async fn timers_that_are_due_together_fire_in_the_order_of_their_times() {
    let (builder, log) = quiet();
    let host = builder.build();
    let clock = host.create(Clock { ticks: 0 });
    host.send(clock, After(6, "third")).unwrap();
    host.send(clock, After(2, "first")).unwrap();
    host.send(clock, After(4, "second")).unwrap();
    host.send(clock, Nap(20)).unwrap();
    while log.lines().len() < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(log.lines(), ["first", "second", "third"]);
}

#[test]
fn a_runtime_without_a_clock_stops_the_machine_that_needs_one() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let report = runtime.block_on(async {
        let host = quiet().0.build();
        let clock = host.create(Clock { ticks: 0 });
        host.send(clock, After(1, "never")).unwrap();
        host.wait().await;
        host.shutdown().await
    });
    assert_eq!(report.failed, 1);
    assert!(dally_report::text::bug(&report.failures[0].bug).contains("enable_time"), "{report}");
}
