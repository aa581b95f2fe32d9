use dally::machines::{Mailbox, Setup};

#[dally::test]
fn neither_a_set_up_nor_a_program() {}

#[dally::test(shedules = 10)]
async fn misspelt_option() {}

#[dally::test(seed = 1, seed = 2)]
async fn the_same_option_twice() {}

#[dally::test(mailbox = Mailbox::Unordered)]
async fn an_option_of_machines_on_tasks() {}

#[dally::test(schedules)]
fn an_option_without_a_value(_: &mut Setup) {}

fn main() {}
