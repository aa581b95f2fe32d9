//! What was learnt, as bytes.

use super::table::{Table, Worth};

/// Writes a table after the settings that it was learnt with and the number of schedules. The
/// same knowledge gives the same bytes.
pub(crate) fn write<W: Worth>(settings: [u64; 2], schedules: u64, table: &Table<W>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut word = |word: u64| out.extend_from_slice(&word.to_le_bytes());
    settings.into_iter().chain([schedules, table.observations() as u64]).for_each(&mut word);
    for (observation, visits, actions) in table.all() {
        word(observation);
        word(u64::from(visits) << 32 | (actions.len() / Table::<W>::ENTRY) as u64);
        actions.iter().copied().for_each(&mut word);
    }
    out
}

/// Reads what [`write`] wrote with the same settings; `None` for other settings, another length
/// and values that no action can have.
pub(crate) fn read<W: Worth>(settings: [u64; 2], bytes: &[u8]) -> Option<(u64, Table<W>)> {
    let (words, []) = bytes.as_chunks::<8>() else { return None };
    let mut words = words.iter().map(|&word| u64::from_le_bytes(word));
    if [words.next()?, words.next()?] != settings {
        return None;
    }
    let (schedules, observations) = (words.next()?, words.next()?);
    let mut table = Table::default();
    let mut actions = Vec::new();
    for _ in 0..observations {
        let (observation, counts) = (words.next()?, words.next()?);
        actions.clear();
        for _ in 0..u64::from(counts as u32) * Table::<W>::ENTRY as u64 {
            actions.push(words.next()?);
        }
        if !table.put(observation, (counts >> 32) as u32, &actions) {
            return None;
        }
    }
    words.next().is_none().then_some((schedules, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<u8> {
        let mut table = Table::<f64>::default();
        assert!(table.put(7, 3, &[1, (-0.5f64).to_bits(), 2, (-4.0f64).to_bits()]));
        assert!(table.put(9, 1, &[]));
        write([1, 2], 40, &table)
    }

    #[test]
    fn what_is_written_is_read_back_and_written_the_same() {
        let (schedules, table) = read::<f64>([1, 2], &some()).unwrap();
        assert_eq!((schedules, table.observations()), (40, 2));
        assert_eq!(write([1, 2], schedules, &table), some());
    }

    #[test]
    fn anything_else_is_refused_as_a_whole() {
        let good = some();
        assert!(read::<f64>([1, 3], &good).is_none());
        for length in 0..good.len() {
            assert!(read::<f64>([1, 2], &good[..length]).is_none(), "{length}");
        }
        assert!(read::<f64>([1, 2], &[&good[..], &[0; 8]].concat()).is_none());
        for value in [0.5, f64::NAN, f64::NEG_INFINITY] {
            let mut wrong = good.clone();
            wrong[56..64].copy_from_slice(&value.to_le_bytes());
            assert!(read::<f64>([1, 2], &wrong).is_none(), "{value}");
        }
    }

    #[test]
    fn an_observation_that_is_said_to_have_no_visits_has_one() {
        let mut never = some();
        never[44..48].fill(0);
        let (_, table) = read::<f64>([1, 2], &never).unwrap();
        let at = table.find(7).unwrap();
        assert_eq!((table.visits(at), table.actions(at)), (1, 2));
    }
}
