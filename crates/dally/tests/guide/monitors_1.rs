use dally::machines::MonitorCx;
use dally::monitor;
use dally::tasks::{TaskProgram, announce, spawn};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Requested(u32);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Answered(u32);

/// Every request is answered, and nothing is answered that was not asked.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Answers {
    open: Vec<u32>,
}

#[monitor(states(cold Quiet, hot Waiting))]
impl Answers {
    #[on(Quiet | Waiting, Requested)]
    fn requested(&mut self, cx: &mut MonitorCx<Self>, Requested(id): Requested) {
        self.open.push(id);
        cx.goto(Waiting);
    }

    #[on(Quiet | Waiting, Answered)]
    fn answered(&mut self, cx: &mut MonitorCx<Self>, Answered(id): Answered) {
        assert!(self.open.contains(&id), "request {id} was answered and never made");
        self.open.retain(|open| *open != id);
        if self.open.is_empty() {
            cx.goto(Quiet);
        }
    }
}

#[dally::test(schedules = 100, should_fail = "hot-at-end")]
fn some_requests_are_never_answered() -> TaskProgram {
    TaskProgram::new("requests", || async {
        announce(Requested(1));
        let server = spawn(async {
            if !dally::tasks::flip() {
                announce(Answered(1));
            }
        });
        server.await.unwrap();
    })
    .monitor(Answers::default)
}
