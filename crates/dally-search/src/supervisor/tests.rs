use super::*;

#[derive(Clone, Copy)]
enum Do {
    /// Tells this much less one, then answers this much.
    Answer(u32),
    Panic,
    /// Makes a choice and blocks inside of the step.
    Block,
}

fn supervisor(threads: usize) -> Supervisor<Do, u32> {
    let mut supervisor = Supervisor::new("a program", Duration::from_millis(20), None);
    for _ in 0..threads {
        let work = |mut writer: ChoiceWriter, supervised: &Supervised<Do, u32>| {
            while let Some(command) = supervised.command() {
                match command {
                    Do::Answer(number) => {
                        supervised.tell(number - 1);
                        supervised.answer(number);
                    }
                    Do::Panic => panic!("no such schedule"),
                    Do::Block => {
                        writer.now(Activity::Stepping);
                        writer.write(Choice::Worker(WorkerId::root(3)));
                        loop {
                            thread::park();
                        }
                    }
                }
            }
        };
        supervisor.spawn(work).unwrap();
    }
    supervisor
}

/// The notices of threads with these commands, in the order of threads, without ticks.
fn noticed(supervisor: &mut Supervisor<Do, u32>, commands: &[Do]) -> Vec<String> {
    let mut noticed = Vec::new();
    supervisor.command_all(|place| commands[place]);
    supervisor.wait(None, |notice| match notice {
        Notice::Answer(thread, answer) => noticed.push(format!("{thread}: {answer}")),
        Notice::Died(panic) => noticed.push(format!("died: {}", panic.unwrap().message())),
        Notice::Stuck(log) => noticed.push(format!("stuck after {:?}", log.choices())),
        Notice::LeftBehind => noticed.push("left behind".into()),
        Notice::Tick => {}
    });
    noticed.sort();
    noticed
}

#[test]
fn all_threads_answer_and_what_they_tell_before_is_heard() {
    let mut supervisor = supervisor(2);
    let heard = noticed(&mut supervisor, &[Do::Answer(8), Do::Answer(5)]);
    assert_eq!(heard, ["0: 7", "0: 8", "1: 4", "1: 5"]);
    assert_eq!(noticed(&mut supervisor, &[Do::Answer(1); 2]).len(), 4);
    assert_eq!(supervisor.len(), 2);
    supervisor.finish();
}

#[test]
fn threads_that_panic_or_get_stuck_are_gone_and_the_others_go_on() {
    let mut supervisor = supervisor(3);
    let heard = noticed(&mut supervisor, &[Do::Panic, Do::Block, Do::Answer(2)]);
    assert_eq!(heard.len(), 4, "{heard:?}");
    assert_eq!(heard[..3], ["2: 1", "2: 2", "died: no such schedule"]);
    assert!(heard[3].starts_with("stuck after [Worker("), "{}", heard[3]);
    assert_eq!(noticed(&mut supervisor, &[Do::Answer(9)]), ["2: 8", "2: 9"]);
}

#[test]
fn the_first_thread_is_asked_and_left_behind_if_it_does_not_answer_in_time() {
    let mut supervisor = supervisor(2);
    let limit = Duration::from_millis(50);
    assert_eq!(supervisor.ask_first(Do::Block, limit), None);
    assert_eq!(supervisor.len(), 1);
    assert_eq!(supervisor.ask_first(Do::Panic, Duration::from_secs(60)), None);
    assert!(supervisor.is_empty());
}
