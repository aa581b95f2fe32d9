//! What follows from constraints that hold already.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::solver::Bounds;
use crate::terms::{Atom, Form, Relation};

/// What follows from constraints, form by form.
#[derive(Debug, Default)]
pub(super) struct Implied {
    bounds: FxHashMap<Form, Bounds>,
    differs: FxHashSet<Atom>,
}

impl Implied {
    pub(super) fn clear(&mut self) {
        self.bounds.clear();
        self.differs.clear();
    }

    /// Adds a constraint; `false` if it followed already.
    pub(super) fn add(&mut self, atom: Atom, (least, most): (i128, i128)) -> bool {
        let bounds = self.bounds.entry(atom.form).or_insert(Bounds { least, most });
        if bounds.decides(atom).is_some() || self.differs.contains(&atom) {
            return false;
        }
        bounds.restrict(atom);
        if atom.relation == Relation::Differs {
            self.differs.insert(atom);
        }
        true
    }
}
