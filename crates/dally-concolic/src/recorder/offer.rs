//! What a program chooses from, where it follows what it gets.

/// Numbers that the program is about to choose from, as an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// What readers call it.
    pub name: String,
    /// The smallest number.
    pub least: i64,
    /// The greatest.
    pub most: i64,
    /// The numbers in the order in which they are numbered, if they are not all of the range from
    /// the smallest one on.
    pub members: Option<Vec<i64>>,
}

impl Offer {
    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        match &self.members {
            Some(members) => members.len() as u64,
            None => self.most.abs_diff(self.least).saturating_add(1),
        }
    }

    /// The number of this one among all, or of the first one, if it is not offered.
    pub(crate) fn place_of(&self, value: i64) -> u32 {
        let place = match &self.members {
            Some(members) => members.iter().position(|&member| member == value).unwrap_or(0) as u64,
            None => value.clamp(self.least, self.most).abs_diff(self.least),
        };
        u32::try_from(place).unwrap_or(u32::MAX)
    }

    /// What has this number.
    pub(crate) fn at(&self, place: u32) -> i64 {
        match &self.members {
            Some(members) => members.get(place as usize).copied().unwrap_or(self.least),
            None => self.least.saturating_add_unsigned(place.into()),
        }
    }

    /// The numbers of the range that are not offered.
    pub(super) fn holes(&self) -> Vec<i64> {
        let mut members = self.members.clone().unwrap_or_default();
        members.sort_unstable();
        members.windows(2).flat_map(|pair| pair[0].saturating_add(1)..pair[1]).collect()
    }
}
