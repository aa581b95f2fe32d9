//! What the ends of bounded and unbounded channels have in common: all but sending.

/// The handles of one kind of channel, beside `$Sender` with its own ways to send.
macro_rules! ends {
    ($which:literal, $Sender:ident, $Weak:ident, $Receiver:ident) => {
        impl<T> $Sender<T> {
            /// Waits until the receiver is gone or has closed.
            #[track_caller]
            pub fn closed(&self) -> Closed<'_, T> {
                Closed { chan: &self.chan, steps: Steps::new() }
            }

            /// Whether the receiver is gone or has closed.
            pub fn is_closed(&self) -> bool {
                self.chan.look_at_senders(|state| state.closed)
            }

            /// Whether both send to the same receiver.
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.chan, &other.chan)
            }

            /// A handle that does not keep the channel open.
            pub fn downgrade(&self) -> $Weak<T> {
                $Weak::new(&self.chan)
            }

            /// How many senders there are.
            pub fn strong_count(&self) -> usize {
                self.chan.count(|state| state.senders)
            }

            /// How many handles there are that do not keep the channel open.
            pub fn weak_count(&self) -> usize {
                self.chan.count(|state| state.weak)
            }
        }

        impl<T> Clone for $Sender<T> {
            fn clone(&self) -> $Sender<T> {
                self.chan.add_sender();
                $Sender { chan: self.chan.clone() }
            }
        }

        impl<T> Drop for $Sender<T> {
            fn drop(&mut self) {
                self.chan.drop_sender();
            }
        }

        impl<T> fmt::Debug for $Sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Sender)).finish_non_exhaustive()
            }
        }

        /// A sending end that does not keep the channel open.
        pub struct $Weak<T> {
            chan: Arc<Chan<T>>,
        }

        impl<T> $Weak<T> {
            fn new(chan: &Arc<Chan<T>>) -> $Weak<T> {
                chan.add_weak();
                $Weak { chan: chan.clone() }
            }

            /// A sender, unless all are gone.
            pub fn upgrade(&self) -> Option<$Sender<T>> {
                let open = self.chan.look_at_senders(|state| state.senders > 0);
                open.then(|| {
                    self.chan.add_sender();
                    $Sender { chan: self.chan.clone() }
                })
            }
        }

        impl<T> $Weak<T> {
            /// How many senders there are.
            pub fn strong_count(&self) -> usize {
                self.chan.count(|state| state.senders)
            }

            /// How many handles there are that do not keep the channel open.
            pub fn weak_count(&self) -> usize {
                self.chan.count(|state| state.weak)
            }
        }

        impl<T> Clone for $Weak<T> {
            fn clone(&self) -> $Weak<T> {
                $Weak::new(&self.chan)
            }
        }

        impl<T> Drop for $Weak<T> {
            fn drop(&mut self) {
                self.chan.drop_weak();
            }
        }

        impl<T> fmt::Debug for $Weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Weak)).finish_non_exhaustive()
            }
        }

        #[doc = concat!("The receiving end of ", $which, " channel.")]
        pub struct $Receiver<T> {
            chan: Arc<Chan<T>>,
        }

        impl<T> $Receiver<T> {
            /// The next value; `None` when all senders are gone, or this end has closed, and all that
            /// was sent is received.
            #[track_caller]
            pub fn recv(&mut self) -> Recv<'_, T> {
                Recv { chan: &self.chan, steps: Steps::new() }
            }

            /// Up to `limit` values at once, at least one; 0 when nothing more will come.
            #[track_caller]
            pub fn recv_many<'a>(
                &'a mut self,
                buffer: &'a mut Vec<T>,
                limit: usize,
            ) -> RecvMany<'a, T> {
                RecvMany { chan: &self.chan, steps: Steps::new(), buffer, limit }
            }

            /// The next value, if it is there.
            #[track_caller]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.chan.try_recv()
            }

            /// As [`recv`](Self::recv), for futures written by hand.
            #[track_caller]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                self.chan.poll_recv(&mut Steps::unknown(), cx)
            }

            /// As [`recv_many`](Self::recv_many), for futures written by hand.
            #[track_caller]
            pub fn poll_recv_many(
                &mut self,
                cx: &mut Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> Poll<usize> {
                self.chan.poll_recv_many(&mut Steps::unknown(), cx, buffer, limit)
            }

            /// As [`recv`](Self::recv), blocking the thread.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                let received = Recv { chan: &self.chan, steps: Steps::unseen() };
                crate::task::block("`mpsc::Receiver::blocking_recv`", received)
            }

            /// As [`recv_many`](Self::recv_many), blocking the thread.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                let steps = Steps::unseen();
                let received = RecvMany { chan: &self.chan, steps, buffer, limit };
                crate::task::block("`mpsc::Receiver::blocking_recv_many`", received)
            }

            /// How many senders there are.
            pub fn sender_strong_count(&self) -> usize {
                self.chan.count(|state| state.senders)
            }

            /// How many handles there are that do not keep the channel open.
            pub fn sender_weak_count(&self) -> usize {
                self.chan.count(|state| state.weak)
            }

            /// Lets nothing more be sent; what was sent can still be received.
            pub fn close(&mut self) {
                self.chan.close(const { &Operation::plain("close") });
            }

            /// Whether nothing more can be sent.
            pub fn is_closed(&self) -> bool {
                self.chan.look_at_senders(|state| state.closed || state.senders == 0)
            }

            /// Whether nothing is there.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// How many values are there.
            pub fn len(&self) -> usize {
                self.chan.look(|state| state.len())
            }
        }

        impl<T> Drop for $Receiver<T> {
            fn drop(&mut self) {
                self.chan.drop_receiver();
            }
        }

        impl<T> fmt::Debug for $Receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Receiver)).finish_non_exhaustive()
            }
        }
    };
}

pub(super) use ends;
