//! The two written forms of schedules: what is written is read back, and nothing else is read.

use dally_core::{BugKind, BugRecord, Cause, Choice, MessageId, Schedule, Tag, WorkerId};
use proptest::prelude::*;

fn sample() -> Schedule {
    let [a, b, c] = [0, 1, 2].map(WorkerId::root);
    let child = b.child(0);
    Schedule {
        program: "raft-v1".into(),
        settings: vec![("bug".into(), "duplicate-votes".into()), ("nodes".into(), "3".into())],
        bug: Some(BugRecord {
            kind: BugKind::Monitor,
            cause: Cause(0x3c1d_5e80_9ab2_f417),
            text: "two leaders in term 2".into(),
        }),
        choices: vec![
            Choice::Worker(b),
            Choice::Value { index: 1, of: 2, tag: Tag::Program },
            Choice::Worker(b),
            Choice::Value { index: 0, of: 2, tag: Tag::Fault },
            Choice::Worker(c.timer(0)),
            Choice::Worker(child),
            Choice::Delivery(MessageId { sender: c, number: 3 }),
            Choice::Worker(WorkerId::FAULTS),
        ],
        enabled: vec![
            vec![a, b, c],
            vec![a, b, c],
            vec![a, b, child, c.timer(0)],
            vec![a, child],
            vec![WorkerId::FAULTS, a],
        ],
        edited: false,
    }
}

#[test]
fn the_text_of_a_schedule() {
    insta::assert_snapshot!(sample().to_text(), @"
    dally schedule 1
    program: raft-v1
    set bug: duplicate-votes
    set nodes: 3
    bug: monitor
    cause: 3c1d5e809ab2f417
    outcome: two leaders in term 2
    choices: 8
    checksum: 653640ae

    1 of 0 1 2
      value 1 of 2
    1
      fault 0 of 2
    2.t0 of 0 1 1.0 2.t0
    1.0 of 0 1.0
      deliver 2#3
    faults of faults 0
    ");
}

#[test]
fn inputs_are_written_as_numbers() {
    let choices = [0, -1, 7, i64::MAX, i64::MIN].map(Choice::Input);
    let a = WorkerId::root(0);
    let choices = [Choice::Worker(a)].into_iter().chain(choices).collect();
    let schedule = Schedule { program: "inputs".into(), choices, ..Schedule::default() };
    let text = schedule.to_text();
    let (_, written) = text.split_once("\n\n").unwrap();
    insta::assert_snapshot!(written, @"
    0
      input 0
      input -1
      input 7
      input 9223372036854775807
      input -9223372036854775808
    ");
    for written in [schedule.to_text(), schedule.to_token()] {
        assert_eq!(Schedule::parse(&written).unwrap().choices, schedule.choices);
    }
    for bad in ["+7", "07", "-0", "9223372036854775808", ""] {
        let error = Schedule::parse(&text.replace("input 7", &format!("input {bad}")));
        assert!(error.unwrap_err().message.contains("is not a choice"), "{bad}");
    }
}

#[test]
fn the_token_of_a_schedule() {
    insta::assert_snapshot!(sample().to_token(), @"dally1-b65ANmUHcmFmdC12MQIDYnVnD2R1cGxpY2F0ZS12b3RlcwVub2RlcwEzB21vbml0b3IX9LKagF4dPBV0d28gbGVhZGVycyBpbiB0ZXJtIDIGATABMgFAAkEgARIBIAgBCwEEEgEAFgANAwcEBQEGCwMRCQI");
}

#[test]
fn large_enabled_sets_are_written_as_changes() {
    let workers: Vec<WorkerId> = (0..12).map(WorkerId::root).collect();
    let schedule = Schedule {
        program: "ring".into(),
        choices: vec![Choice::Worker(workers[0]), Choice::Worker(workers[1])],
        enabled: vec![workers.clone(), [&workers[1..], &[WorkerId::root(12)]].concat()],
        ..Schedule::default()
    };
    let text = schedule.to_text();
    assert!(text.ends_with("\n\n0 of 0 1 2 3 4 5 6 7 8 9 10 11\n1 +12 -0\n"), "{text}");
    assert_eq!(Schedule::parse(&text), Ok(schedule));
}

#[test]
fn values_that_do_not_print_are_escaped() {
    let schedule = Schedule {
        program: " a\nb\"\u{202e}".into(),
        settings: vec![
            ("with space: and colon".into(), String::new()),
            ("plain".into(), "it's 100% \"fine\" \\o/ é 漢".into()),
            ("quoted".into(), "\"".into()),
        ],
        ..Schedule::default()
    };
    insta::assert_snapshot!(schedule.to_text(), @r#"
    dally schedule 1
    program: " a\nb\"\u{202e}"
    set "with space: and colon": ""
    set plain: it's 100% "fine" \o/ é 漢
    set quoted: "\""
    choices: 0
    checksum: 848dc436
    "#);
    assert_eq!(Schedule::parse(&schedule.to_text()), Ok(schedule));
}

#[test]
fn what_people_do_to_files_and_tokens_does_no_harm() {
    let schedule = sample();
    let text = schedule.to_text();
    let token = schedule.to_token();
    let commented = text.replace("\n\n", "\n\n# the split vote that ops saw in May\n");
    let (half, rest) = token.split_at(30);
    for same in [
        text.replace('\n', "\r\n"),
        format!("\u{feff}{text}"),
        format!("\n\n{text}\n\n"),
        commented,
        format!("  {token}\n"),
        format!("\"{token}\""),
        format!("`{token}`"),
        format!("{half}\n   {rest}"),
    ] {
        assert_eq!(Schedule::parse(&same).as_ref(), Ok(&schedule), "{same}");
    }
}

#[test]
fn an_edit_on_purpose_is_possible() {
    let text = sample().to_text();
    let checksum = text.lines().find(|line| line.starts_with("checksum")).unwrap();
    let edited = text.replace(checksum, "checksum: none").replace("value 1 of 2", "value 0 of 2");
    let edited = edited + "0\n";
    let mut expected = Schedule { edited: true, ..sample() };
    expected.choices.push(Choice::Worker(WorkerId::root(0)));
    expected.enabled.push(vec![WorkerId::FAULTS, WorkerId::root(0)]);
    expected.choices[1] = Choice::Value { index: 0, of: 2, tag: Tag::Program };
    assert_eq!(Schedule::parse(&edited), Ok(expected));
}

#[test]
fn a_schedule_without_enabled_sets_stays_without() {
    let schedule = Schedule { enabled: Vec::new(), ..sample() };
    assert_eq!(Schedule::parse(&schedule.to_text()).as_ref(), Ok(&schedule));
    assert_eq!(Schedule::parse(&schedule.to_token()).as_ref(), Ok(&schedule));
}

#[test]
fn a_step_in_between_may_lack_its_enabled_set() {
    let mut schedule = sample();
    schedule.enabled[2].clear();
    assert_eq!(Schedule::parse(&schedule.to_text()).as_ref(), Ok(&schedule));
    assert_eq!(Schedule::parse(&schedule.to_token()).as_ref(), Ok(&schedule));
}

#[test]
fn every_kind_of_damage_has_its_message() {
    let text = sample().to_text();
    let token = sample().to_token();
    let in_half: String = text.lines().take(12).map(|line| format!("{line}\n")).collect();
    let errors: Vec<String> = [
        "",
        "hello, world\nthis is my shopping list",
        "{ \"format\": \"dally-trace\", \"version\": 1 }",
        "dally schedule 2\nwhatever version 2 may be",
        "dally schedule one",
        "dally2-AAAA",
        "dally schedule 1\n",
        &in_half,
        &in_half.replace("checksum: 653640ae", "checksum: none"),
        &text[..text.len() - 20],
        &text.replace("1 of 2", "0 of 2"),
        &text.replace("raft-v1", "raft-v2"),
        &text.replace("value 1 of 2", "value 7 of 2"),
        &text.replace("fault 0 of 2", "fault 1 of 1"),
        &text.replace("fault 0 of 2", "fault 0 of 0"),
        &text.replace("program: ", "programme: "),
        &text.replace("cause: 3c1d5e809ab2f417\n", ""),
        &text.replace("bug: monitor\ncause", "bug: moniker\ncause"),
        &text.replace("set bug", "set bug set"),
        &format!("{text}0\n"),
        &format!("{text}<<<<<<< HEAD\n"),
        &token[..token.len() - 8],
        &token[..9],
        &token.replacen('A', "B", 1),
        &token.replacen('A', "é", 1),
        &format!("{token}AAAA"),
    ]
    .into_iter()
    .map(|bad| Schedule::parse(bad).unwrap_err().to_string())
    .collect();
    insta::assert_snapshot!(errors.join("\n"), @"
    this is empty and not a Dally schedule
    this is not a Dally schedule: its first line should be `dally schedule 1` (a file) or begin with `dally1-` (a token), and is `hello, world`
    this is a JSON trace: give the `.schedule` file beside it, or the token that it holds
    line 1: this schedule is of version 2; this Dally reads version 1
    line 1: the first line should be `dally schedule 1`; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    this token is of version 2; this Dally reads version 1
    line 1: there is no `checksum:` in the header; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    line 12: the file ends here, after 2 of the 8 choices that its header promises, so the recording is incomplete; the file was edited or cut off: use it as Dally wrote it, or find the bug again (to replay what is left, write `checksum: none` and `choices: 2`)
    line 12: the file ends here, after 2 of the 8 choices that its header promises, so the recording is incomplete; the file was edited or cut off: use it as Dally wrote it, or find the bug again (to replay what is left, write `choices: 2`)
    line 17: the file ends here, after 7 of the 8 choices that its header promises, so the recording is incomplete; the file was edited or cut off: use it as Dally wrote it, or find the bug again (to replay what is left, write `checksum: none` and `choices: 7`)
    line 9: the checksum does not match; the file was edited or cut off: use it as Dally wrote it, or find the bug again (to replay it as it is now, write `checksum: none`)
    line 9: the checksum does not match; the file was edited or cut off: use it as Dally wrote it, or find the bug again (to replay it as it is now, write `checksum: none`)
    line 12: `value 7 of 2`: 7 is out of range, values are 0 to 1; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    line 14: `fault 1 of 1`: 1 is out of range, the only value is 0; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    line 14: `fault 0 of 0`: 0 is out of range, there are no values; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    line 2: `programme: raft-v1` is not a line of a header; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    line 8: `bug:`, `cause:` and `outcome:` belong together; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    line 5: `bug: moniker` is not a line of a header; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    line 9: the checksum does not match; the file was edited or cut off: use it as Dally wrote it, or find the bug again (to replay it as it is now, write `checksum: none`)
    line 19: there are more choices than the header says; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    line 19: `<<<<<<< HEAD` is not a choice: a step is written like `0.1 of 0 0.1`, what is chosen in it like `  value 1 of 2`, `  fault 0 of 2`, `  deliver 0.1#3` or `  input 7`; the file was edited or cut off: use it as Dally wrote it, or find the bug again
    the token was cut off or edited: it has 105 bytes of 111; copy it again, from `dally1-` to its very end
    the token was cut off or edited; copy it again, from `dally1-` to its very end
    the token was edited: its checksum does not match; copy it again, from `dally1-` to its very end
    the token was damaged: `é` is not a character of tokens; copy it again, from `dally1-` to its very end
    the token was edited: its checksum does not match; copy it again, from `dally1-` to its very end
    ");
}

#[test]
fn a_length_that_lies_is_found_out_before_anything_is_allocated_for_it() {
    use base64::Engine as _;
    let mut content = vec![0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    content.extend([0; 16]);
    let mut bytes = vec![content.len() as u8];
    bytes.extend((dally_core::fingerprint::of_bytes(&content) as u32).to_le_bytes());
    bytes.extend(content);
    let token = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
    insta::assert_snapshot!(Schedule::parse(&format!("dally1-{token}")).unwrap_err(), @"the token was not made by Dally: its checksum matches, but it promises 18446744073709551615 entries and has 16 bytes");
}

/// Enabled sets are written as changes, so a short text can promise long ones: 5000 steps with
/// 5000 enabled workers each.
#[test]
fn a_short_text_does_not_become_a_huge_schedule() {
    let workers: String = (0..5000).map(|n| format!(" {n}")).collect();
    let text = format!("dally schedule 1\nchecksum: none\n0 of{workers}\n{}", "0\n".repeat(5000));
    let error = Schedule::parse(&text).unwrap_err().to_string();
    assert_eq!(error, "line 3358: the enabled sets have more than 16777216 entries");
}

/// Exhaustive for one schedule; the property tests below sample all others.
#[test]
fn no_single_edit_of_the_sample_means_something_else() {
    let same_or_error = |text: &str| match Schedule::parse(text) {
        Ok(read) => assert_eq!(read, sample(), "{text}"),
        Err(error) => assert!(!error.message.is_empty()),
    };
    for original in [sample().to_text(), sample().to_token()] {
        for place in 0..original.len() {
            let (before, after) = original.split_at(place);
            same_or_error(before);
            same_or_error(&format!("{before}{}", &after[1..]));
            for with in (b' '..=b'~').map(char::from).chain(['\n', '\r', '\0', 'é']) {
                same_or_error(&format!("{before}{with}{after}"));
                same_or_error(&format!("{before}{with}{}", &after[1..]));
            }
        }
    }
}

/// A ring of 16 machines that pass a token: each step enables the next machine.
#[test]
fn a_token_takes_at_most_four_characters_a_step() {
    let mut random = 7u64;
    let mut enabled: Vec<WorkerId> = (0..8).map(WorkerId::root).collect();
    let mut schedule = Schedule { program: "ring".into(), ..Schedule::default() };
    for _ in 0..1000 {
        random = dally_core::fingerprint::mix(random, 1);
        let chosen = enabled[random as usize % enabled.len()];
        schedule.choices.push(Choice::Worker(chosen));
        schedule.enabled.push(enabled.clone());
        if random.is_multiple_of(5) {
            schedule.choices.push(Choice::Value { index: 1, of: 3, tag: Tag::Program });
        }
        // Half of the steps empty the inbox of the chosen and fill another one.
        if random >> 32 & 1 == 0 {
            let other = WorkerId::root((random >> 33) as u32 % 16);
            enabled.retain(|&worker| worker != chosen || other == chosen);
            if let Err(place) = enabled.binary_search(&other) {
                enabled.insert(place, other);
            }
        }
    }
    let length = schedule.to_token().len();
    assert!(length <= 4 * schedule.steps(), "{length} characters for {} steps", schedule.steps());
}

fn workers() -> impl Strategy<Value = WorkerId> {
    let leaf = (0..3u32).prop_map(WorkerId::root);
    let tree = leaf.prop_recursive(20, 20, 1, |inner| {
        (inner, prop_oneof![0..4u32, 10..300u32], any::<bool>())
            .prop_map(|(parent, n, timer)| if timer { parent.timer(n) } else { parent.child(n) })
    });
    prop_oneof![9 => tree, 1 => Just(WorkerId::FAULTS)]
}

fn choices() -> impl Strategy<Value = Choice> {
    let tag = prop_oneof![Just(Tag::Program), Just(Tag::Fault)];
    prop_oneof![
        3 => workers().prop_map(Choice::Worker),
        1 => (1..=u32::MAX, any::<u32>(), tag)
            .prop_map(|(of, index, tag)| Choice::Value { index: index % of, of, tag }),
        1 => (workers(), any::<u32>())
            .prop_map(|(sender, number)| Choice::Delivery(MessageId { sender, number })),
        1 => any::<i64>().prop_map(Choice::Input),
    ]
}

fn bugs() -> impl Strategy<Value = BugRecord> {
    let kinds = prop::sample::select(BugKind::ALL.to_vec());
    (kinds, any::<u64>(), any::<String>()).prop_map(|(kind, cause, text)| BugRecord {
        kind,
        cause: Cause(cause),
        text,
    })
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let settings = prop::collection::vec((any::<String>(), any::<String>()), 0..3);
    let steps =
        prop::collection::vec((choices(), prop::collection::btree_set(workers(), 1..12)), 0..30);
    (any::<String>(), settings, prop::option::of(bugs()), steps, any::<bool>()).prop_map(
        |(program, settings, bug, steps, recorded)| {
            let choices: Vec<Choice> = steps.iter().map(|step| step.0).collect();
            let enabled = (steps.into_iter())
                .filter(|step| recorded && matches!(step.0, Choice::Worker(_)))
                .map(|step| step.1.into_iter().collect())
                .collect();
            Schedule { program, settings, bug, choices, enabled, edited: false }
        },
    )
}

/// A change of one character, or a cut.
fn edited(text: &str, place: usize, with: Option<char>, kind: u8) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let place = place % chars.len();
    match (kind % 4, with) {
        (0, Some(with)) => chars[place] = with,
        (1, Some(with)) => chars.insert(place, with),
        (2, _) => {
            chars.remove(place);
        }
        _ => chars.truncate(place),
    }
    chars.into_iter().collect()
}

proptest! {
    #[test]
    fn both_forms_round_trip(schedule in schedules()) {
        prop_assert_eq!(Schedule::parse(&schedule.to_text()), Ok(schedule.clone()));
        prop_assert_eq!(Schedule::parse(&schedule.to_token()), Ok(schedule));
    }

    #[test]
    fn an_edited_text_is_rejected_or_means_the_same(
        schedule in schedules(),
        place in any::<usize>(),
        with in prop_oneof!["[ -~\n#\"]".prop_map(|s| s.chars().next()), any::<char>().prop_map(Some)],
        kind in any::<u8>(),
    ) {
        if let Ok(read) = Schedule::parse(&edited(&schedule.to_text(), place, with, kind)) {
            prop_assert_eq!(read, schedule);
        }
    }

    #[test]
    fn an_edited_token_is_rejected_or_means_the_same(
        schedule in schedules(),
        place in any::<usize>(),
        with in prop_oneof!["[A-Za-z0-9_-]".prop_map(|s| s.chars().next()), any::<char>().prop_map(Some)],
        kind in any::<u8>(),
    ) {
        if let Ok(read) = Schedule::parse(&edited(&schedule.to_token(), place, with, kind)) {
            prop_assert_eq!(read, schedule);
        }
    }

    #[test]
    fn any_text_is_a_schedule_or_an_error(text in any::<String>(), body in "[0-9a-z.#+:\n -]{0,80}") {
        for text in [
            text.clone(),
            format!("dally schedule 1\n{text}"),
            format!("dally schedule 1\nprogram: x\nchecksum: none\n{body}"),
            format!("dally1-{text}"),
        ] {
            let _ = Schedule::parse(&text);
        }
    }

    /// Behind a checksum that matches, any bytes: the reader of the compact form stands alone.
    #[test]
    fn any_bytes_behind_a_true_checksum_are_a_schedule_or_an_error(
        content in prop::collection::vec(prop_oneof![0..8u8, any::<u8>()], 0..127),
    ) {
        use base64::Engine as _;
        let mut bytes = vec![content.len() as u8];
        bytes.extend((dally_core::fingerprint::of_bytes(&content) as u32).to_le_bytes());
        bytes.extend(content);
        let token = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
        if let Ok(schedule) = Schedule::parse(&format!("dally1-{token}")) {
            prop_assert_eq!(Schedule::parse(&schedule.to_text()), Ok(schedule));
        }
    }
}
