//! The maps of all properties.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

use super::components::Numbers;
use super::map::{self, Map};
use super::property::Property;

/// A map for each property that a cycle may violate, made when it is first asked for.
pub(crate) struct Maps {
    /// First those of monitors that wait, then those of monitors that mind what is visited.
    maps: [Box<[OnceLock<Map>]>; 2],
    made: AtomicUsize,
    memory: u64,
    /// For who refines a map.
    pub(crate) numbers: Mutex<Numbers>,
}

impl Maps {
    /// Each will take at most so many bytes.
    pub(crate) fn new(memory: u64) -> Maps {
        let none = || (0..64).map(|_| OnceLock::new()).collect();
        let (made, numbers) = (AtomicUsize::new(0), Mutex::default());
        Maps { maps: [none(), none()], made, memory, numbers }
    }

    /// The map of a property. The first has its values in the graph, with what else changes of a state:
    /// most programs have one.
    #[inline]
    pub(crate) fn of(&self, property: Property) -> &Map {
        let (kind, monitor) = property.place();
        self.maps[kind][monitor].get_or_init(|| match self.made.fetch_add(1, Relaxed) {
            0 => Map::within(property),
            _ => Map::apart(property, self.memory),
        })
    }

    /// Whether all maps have room for the states before this number.
    #[inline]
    pub(crate) fn have_room(&self, end: usize) -> bool {
        self.made.load(Relaxed) <= 1 || self.all().all(|map| map.has_room(end))
    }

    /// All maps, in the order of properties.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Map> {
        self.maps.iter().flatten().filter_map(OnceLock::get)
    }

    /// The bytes that a state takes here, and not in the graph.
    pub(crate) fn bytes_a_state(&self) -> usize {
        self.made.load(Relaxed).saturating_sub(1) * map::BYTES
    }
}
