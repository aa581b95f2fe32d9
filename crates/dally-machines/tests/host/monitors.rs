//! Monitors in production report and do not interfere.

use dally_core::BugKind;
use dally_machines::{Cx, MonitorCx};
use dally_macros::{machine, monitor};

use crate::log::quiet;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Paid(u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Till;

#[machine(states(Open))]
impl Till {
    #[on(Open, Paid)]
    fn paid(&mut self, cx: &mut Cx<Self>, paid: Paid) {
        cx.announce(paid);
    }
}

/// Amounts only grow.
#[derive(Clone, Hash, Debug, Default)]
struct Growing {
    last: u32,
}

#[monitor(states(Watching))]
impl Growing {
    #[on(Watching, Paid)]
    fn paid(&mut self, _: &mut MonitorCx<Self>, &Paid(amount): &Paid) {
        assert!(amount >= self.last, "paid {amount} after {}", self.last);
        self.last = amount;
    }
}

/// Odd amounts are followed by even ones.
#[derive(Clone, Hash, Debug, Default)]
struct Even;

#[monitor(states(cold Settled, hot Owing))]
impl Even {
    #[on(Settled | Owing, Paid)]
    fn paid(&mut self, cx: &mut MonitorCx<Self>, &Paid(amount): &Paid) {
        cx.goto(if amount % 2 == 0 { Settled } else { Owing });
    }
}

#[tokio::test]
async fn a_violated_monitor_is_reported_once_and_stops_no_machine() {
    let (builder, log) = quiet();
    let host = builder.monitor(Growing::default()).monitor(Even).build();
    let till = host.create(Till);
    for amount in [2, 1, 0, 3] {
        host.send(till, Paid(amount)).unwrap();
    }
    let report = host.shutdown().await;
    assert_eq!(log.lines(), ["Paid(2)", "Paid(1)", "Paid(0)", "Paid(3)"]);
    assert_eq!((report.failed, report.failures.len()), (0, 1));
    assert_eq!(report.failures[0].bug.kind(), BugKind::Monitor);
    assert_eq!(report.failures[0].worker, None);
    let text = report.failures[0].to_string();
    assert!(text.starts_with("monitor `Growing` was violated: paid 1 after 2 at "), "{text}");
    assert_eq!(report.hot, ["Even in Owing"]);
    assert!(!report.is_clean());
}
