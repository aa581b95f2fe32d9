//! What operations on a channel touch: its two ends, and the values in it.
//!
//! A value is sent at one end and received at the other, so a send and the receipt of another value need no
//! order. Who finds the channel empty has looked for the value that comes next, and so at the sending
//! end; who needs room that somebody has made has looked at the receiving end. Room that was there from
//! the beginning depends on nobody.
//!
//! A future that finds no value answers that it is pending, and what is around it may do something else
//! then. So whether there was one makes a difference, also where nothing else is done: one that finds a value
//! does not know what would have been done. Code that blocks its thread does nothing meanwhile, and whether it
//! had to wait makes none.

use dally_core::{Access, Mode, Resource};

use super::chan::{Chan, State};
use crate::exec::Exec;
use crate::text::Operation;

impl<T> Chan<T> {
    /// Both ends.
    #[inline]
    pub fn touch_both(&self, exec: &mut Exec, mode: Mode, operation: &'static Operation) {
        exec.touch(&self.object, mode, operation);
        self.touch_receiver(exec, mode);
    }

    /// The receiving end, without words for readers.
    #[inline]
    pub fn touch_receiver(&self, exec: &mut Exec, mode: Mode) {
        exec.access(Access::new(Resource::Receiver(self.object.id), mode));
    }

    /// The sending end, where room for so many values is taken or not found.
    #[inline]
    pub fn touch_room(
        &self,
        exec: &mut Exec,
        state: &State<T>,
        n: usize,
        operation: &'static Operation,
    ) {
        exec.touch(&self.object, Mode::ReadModifyWrite, operation);
        if self.capacity.is_some_and(|all| state.placed + n > all) {
            self.touch_receiver(exec, Mode::ReadModifyWrite);
        }
    }

    /// The value that was just sent.
    #[inline]
    pub fn touch_sent(&self, exec: &mut Exec, state: &State<T>) {
        self.touch_entry(exec, state.received + state.queue.len() - 1, Mode::Write);
    }

    /// The value that was just received.
    #[inline]
    pub fn touch_received(&self, exec: &mut Exec, state: &State<T>, operation: &'static Operation) {
        exec.receives(&self.object, operation);
        self.touch_entry(exec, state.received - 1, Mode::ReadModifyWrite);
    }

    /// The value that was just received by who waited for it without being seen: it has not looked whether the
    /// value is there.
    #[inline]
    pub fn touch_awaited(&self, exec: &mut Exec, state: &State<T>, operation: &'static Operation) {
        exec.receives(&self.object, operation);
        self.touch_entry(exec, state.received - 1, Mode::Write);
    }

    /// The receiving end, where there is no value.
    #[inline]
    pub fn touch_nothing(&self, exec: &mut Exec, operation: &'static Operation) {
        exec.receives(&self.object, operation);
        exec.touch_silently(&self.object, Mode::Read);
    }

    /// Whether there is a value.
    #[inline]
    pub fn look_for_value(&self, exec: &mut Exec, state: &State<T>) {
        self.touch_receiver(exec, Mode::Read);
        if state.queue.is_empty() {
            exec.touch_silently(&self.object, Mode::Read);
        } else {
            self.touch_entry(exec, state.received, Mode::Read);
        }
    }

    #[inline]
    fn touch_entry(&self, exec: &mut Exec, number: usize, mode: Mode) {
        exec.access(Access::new(Resource::Entry(self.object.id, number as u32), mode));
    }
}
