//! Runs of a worker's handlers.

use dally_core::{Env, Event, EventSink, MessageId, Text, WorkerId};

use crate::body::{Input, Ran};
use crate::cell::Cell;
use crate::cx::Turn;
use crate::effect::Effect;
use crate::inbox::{Envelope, Inbox};
use crate::message::Message;
use crate::pool::Pool;
use crate::worker::Worker;

impl Worker {
    #[inline(always)]
    pub(crate) fn run(
        &mut self,
        input: Input,
        message: &mut Message,
        twice: bool,
        pool: &mut Pool,
        env: &mut dyn Env,
    ) -> Ran {
        let (side, cell, _) = self.begin_turn();
        let ran = cell.run(input, message, &mut side.turn(twice, pool, env));
        self.end_turn();
        ran
    }

    /// Takes the first message of the inbox, which exists and is no tick, and runs the handler for it.
    #[inline(always)]
    pub(crate) fn run_first(
        &mut self,
        twice: bool,
        pool: &mut Pool,
        env: &mut EventSink<'_>,
    ) -> (MessageId, Ran) {
        let (side, cell, inbox) = self.begin_turn();
        let Envelope { id, event, message, .. } = inbox.open_in_place();
        let id = *id;
        let told =
            env.tell(|| Event::Received { message: id, payload: Text::Debug(message.payload()) });
        let ran = match told {
            Ok(()) => {
                cell.run(Input::Event(*event), message, &mut side.turn(twice, &mut *pool, env))
            }
            Err(cut) => Err(cut.into()),
        };
        pool.put(message.take());
        self.end_turn();
        (id, ran)
    }

    /// Splits the worker into its side of a turn, its cell and its inbox.
    #[inline(always)]
    fn begin_turn(&mut self) -> (Side<'_>, &mut dyn Cell, &mut Inbox) {
        self.forget_cell();
        let Worker { id, children, seals, idles, effects, cell, inbox, .. } = self;
        (Side { me: *id, children, seals: *seals, idles, effects }, &mut **cell, inbox)
    }

    /// Reverses the effects, which the handler has queued in order.
    #[inline(always)]
    fn end_turn(&mut self) {
        if self.effects.len() > 1 {
            self.effects.reverse();
        }
    }
}

/// The worker's fields that a [`Turn`] borrows.
struct Side<'a> {
    me: WorkerId,
    children: &'a mut u32,
    seals: u32,
    idles: &'a mut bool,
    effects: &'a mut Vec<Effect>,
}

impl<'a> Side<'a> {
    #[inline(always)]
    fn turn(self, twice: bool, pool: &'a mut Pool, env: &'a mut dyn Env) -> Turn<'a> {
        let Side { me, children, seals, idles, effects } = self;
        Turn { me, children, seals, idles, effects, pool, env, excess: None, twice }
    }
}
