//! Which cell comes next: those that still find something new get more of the time.

use std::time::Duration;

/// What a cell has cost and brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// The time that was spent on it.
    pub spent: Duration,
    /// How many schedules were run.
    pub schedules: u64,
    /// The part of the schedules of its last batches that showed something new, from 0 to 1.
    pub newness: f64,
    /// Whether nothing is left to be run.
    pub finished: bool,
}

/// What a cell gets that brings nothing new, as a part of what one gets of which every schedule does. What was
/// not found for long can be found yet.
const LEAST: f64 = 0.05;

/// How much of the newness of a cell is that of its last batch.
const LATEST: f64 = 0.5;

impl Account {
    /// Takes note of a batch, of which so many schedules at most showed something new.
    pub fn add(&mut self, spent: Duration, schedules: u64, new: u64) {
        let latest = (new as f64 / schedules.max(1) as f64).min(1.0);
        self.newness = match self.schedules {
            0 => latest,
            _ => LATEST * latest + (1.0 - LATEST) * self.newness,
        };
        self.spent += spent;
        self.schedules += schedules;
    }

    /// The time that was spent on it, in parts of what is due to it.
    fn served(&self) -> f64 {
        self.spent.as_secs_f64() / (LEAST + self.newness)
    }

    /// How many schedules take about this long.
    pub(crate) fn in_time(&self, time: Duration) -> u64 {
        const FIRST: u64 = 64;
        const LEAST: u64 = 16;
        const MOST: u64 = 1 << 20;
        if self.schedules == 0 {
            return FIRST;
        }
        let rate = self.schedules as f64 / self.spent.as_secs_f64().max(1e-6);
        ((rate * time.as_secs_f64()) as u64).clamp(LEAST, MOST.min(self.schedules * 8))
    }
}

/// The account that comes next; `None` if all are finished.
pub(crate) fn next(accounts: &[Account]) -> Option<usize> {
    let open = accounts.iter().enumerate().filter(|(_, account)| !account.finished);
    let least = open.min_by(|(_, a), (_, b)| a.served().total_cmp(&b.served()));
    least.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares 1,000 batches of a second among cells of which so many of 100 schedules show something new.
    fn shared(new: &[u64]) -> Vec<u64> {
        let mut accounts = vec![Account::default(); new.len()];
        for _ in 0..1_000 {
            let place = next(&accounts).unwrap();
            accounts[place].add(Duration::from_secs(1), 100, new[place]);
        }
        accounts.iter().map(|account| account.spent.as_secs()).collect()
    }

    #[test]
    fn cells_alike_get_as_much_and_one_that_brings_nothing_new_a_little() {
        assert_eq!(shared(&[10, 10, 10, 10]), [250; 4]);
        let shares = shared(&[100, 0]);
        assert_eq!(shares.iter().sum::<u64>(), 1_000);
        // 0.05 of 0.05 + 1.05.
        assert!((44..=47).contains(&shares[1]), "{shares:?}");
    }

    #[test]
    fn a_cell_that_is_finished_gets_nothing_and_none_is_next_if_all_are() {
        let mut accounts =
            vec![Account { finished: true, ..Account::default() }, Account::default()];
        assert_eq!(next(&accounts), Some(1));
        accounts[1].finished = true;
        assert_eq!(next(&accounts), None);
    }

    #[test]
    fn batches_grow_until_they_take_as_long_as_they_should() {
        let mut account = Account::default();
        assert_eq!(account.in_time(Duration::from_secs(2)), 64);
        account.add(Duration::from_millis(1), 64, 0);
        assert_eq!(account.in_time(Duration::from_secs(2)), 512);
        account.add(Duration::from_secs(10), 936, 0);
        assert_eq!(account.in_time(Duration::from_secs(2)), 199);
    }
}
