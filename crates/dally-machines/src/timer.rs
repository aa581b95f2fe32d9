//! Timers: workers whose step is to fire.

use crate::encoding::{self, Form};
use crate::message::{Content, Message};
use crate::worker::Worker;

/// A timer of a machine, identified by its event. Its place among the machine's timers names it,
/// so a place is used again for the same kind of event and never given up.
#[derive(Clone)]
pub(crate) struct Timer {
    /// Which event of the machine it sends.
    pub(crate) event: u16,
    pub(crate) mode: Mode,
    /// What it sends, while it is armed. Once it has fired its message is in the inbox.
    pub(crate) message: Option<Message>,
    /// Whether a tick of it is in the inbox.
    pub(crate) queued: bool,
    /// How often it has fired.
    pub(crate) ticks: u32,
    /// Whether it is in the system's list of enabled workers.
    pub(crate) listed: bool,
}

/// What a timer is about to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Nothing.
    Free,
    /// Fire once.
    Once,
    /// Fire again and again.
    Every,
    /// Nothing more, but its tick is in the inbox and can still be cancelled.
    Fired,
}

impl Timer {
    pub(crate) fn free(event: u16) -> Timer {
        Timer { event, mode: Mode::Free, message: None, queued: false, ticks: 0, listed: false }
    }

    pub(crate) fn can_fire(&self) -> bool {
        match self.mode {
            Mode::Once => true,
            Mode::Every => !self.queued,
            Mode::Free | Mode::Fired => false,
        }
    }

    pub(crate) fn encode(&self, form: Form, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.mode as u8, u8::from(self.queued)]);
        out.extend_from_slice(&self.event.to_le_bytes());
        if let Some(message) = &self.message {
            encoding::event(self.event, message, form, out);
        }
    }
}

impl Worker {
    /// The place of the timer with this event: itself if it is armed or its tick is queued, else
    /// a free one of the same kind of event.
    pub(crate) fn place_for_timer(&self, event: u16, content: &dyn Content) -> Option<usize> {
        let free = |timer: &Timer| timer.event == event && timer.mode == Mode::Free;
        self.find_timer(event, content).or_else(|| self.timers.iter().position(free))
    }

    /// The place of the timer with this event, if it is armed or its tick is queued.
    pub(crate) fn find_timer(&self, event: u16, content: &dyn Content) -> Option<usize> {
        let same = |message: &Message| message.same(content);
        let armed = |timer: &Timer| {
            timer.event == event && timer.message.as_ref().is_some_and(same)
        };
        self.timers.iter().position(armed).or_else(|| {
            let mut ticks = self.inbox.iter().filter(|envelope| envelope.event == event);
            let tick = ticks.find(|tick| tick.timer.is_some() && same(&tick.message));
            tick.and_then(|tick| tick.timer).map(|timer| timer as usize)
        })
    }
}
