//! How much memory a search of states takes: what its budget says, whatever the program keeps in its states.
//! Each search runs in a process of its own, whose most resident memory is looked at.
#![cfg(target_os = "linux")]

use std::process::Command;

/// Tests that a process of its own runs, and that do next to nothing when the suite runs them.
mod fixtures {
    use dally::machine;
    use dally::machines::{Cx, Setup};

    fn asked() -> bool {
        std::env::var_os("DALLY_FIXTURES").is_some()
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Tick;

    /// Counts to `to`, with so many bytes in its state, of which each step changes one.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Counter {
        to: u8,
        count: u8,
        bytes: Vec<u8>,
    }

    #[machine(states(Counting))]
    impl Counter {
        #[entry(Counting)]
        fn begin(&mut self, cx: &mut Cx<Self>) {
            cx.send(cx.me(), Tick);
        }

        #[on(Counting, Tick)]
        fn tick(&mut self, cx: &mut Cx<Self>, _: Tick) {
            self.count += 1;
            if let Some(byte) = self.bytes.get_mut(usize::from(self.count)) {
                *byte = self.count;
            }
            if self.count < self.to {
                cx.send(cx.me(), Tick);
            }
        }
    }

    fn counters(setup: &mut Setup, bytes: usize) {
        let to = if asked() { 40 } else { 1 };
        let machines = if asked() { 8 } else { 1 };
        for _ in 0..machines {
            setup.create(Counter { to, count: 0, bytes: vec![0; bytes] });
        }
    }

    #[dally::test(search = "ses", memory = "64M")]
    fn small_states(setup: &mut Setup) {
        counters(setup, 0);
    }

    #[dally::test(search = "ses", memory = "64M")]
    fn states_of_a_kilobyte(setup: &mut Setup) {
        counters(setup, 1_000);
    }

    #[dally::test(search = "ses", memory = "64M")]
    fn states_of_a_hundred_kilobytes(setup: &mut Setup) {
        counters(setup, 100_000);
    }

    #[dally::test(search = "ses", memory = "64M", threads = 2)]
    fn states_of_a_hundred_kilobytes_on_two_threads(setup: &mut Setup) {
        counters(setup, 100_000);
    }

    #[dally::test(search = "ses", memory = "64M")]
    fn states_of_a_megabyte(setup: &mut Setup) {
        counters(setup, 1_000_000);
    }

    #[dally::test(search = "dfs", memory = "64M", max_steps = 100_000)]
    fn a_deep_stack_of_large_states(setup: &mut Setup) {
        counters(setup, 500_000);
    }

    #[dally::test(search = "ndfs", memory = "64M")]
    fn cycles_of_large_states(setup: &mut Setup) {
        counters(setup, 1_000_000);
    }

    /// Says how much memory the process has had at most, in the middle of its last test.
    #[test]
    fn zz_most_memory() {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        println!("{}", status.lines().find(|line| line.starts_with("VmHWM:")).unwrap());
    }
}

/// Runs a fixture; gives what it prints and the most megabytes that it had.
fn run(fixture: &str) -> (String, u64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("fixtures::{fixture}"), "fixtures::zz_most_memory"])
        .args(["--nocapture", "--test-threads=1"])
        .env("DALLY_FIXTURES", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "it was killed or failed: {}\n{text}", output.status);
    let most = text.split("VmHWM:").nth(1).unwrap().trim_start();
    let kilobytes: u64 = most.split(' ').next().unwrap().parse().unwrap();
    (text, kilobytes / 1024)
}

#[test]
fn a_search_takes_at_most_half_more_than_its_memory_whatever_its_states_hold() {
    for fixture in [
        "small_states",
        "states_of_a_kilobyte",
        "states_of_a_hundred_kilobytes",
        "states_of_a_hundred_kilobytes_on_two_threads",
        "states_of_a_megabyte",
        "a_deep_stack_of_large_states",
        "cycles_of_large_states",
    ] {
        let (text, megabytes) = run(fixture);
        println!("{fixture}: {megabytes} MB");
        assert!(megabytes <= 96, "{fixture}: {megabytes} MB\n{text}");
        assert!(text.contains("until the memory was full"), "{fixture}:\n{text}");
        assert!(text.contains("The memory of 64.0 MiB was full"), "{fixture}:\n{text}");
    }
}
