//! Waiting for the first of several futures.

/// Waits for several futures and goes on with the first that is ready, in the shape of
/// `tokio::select!`: `pattern = future => handler`, with `, if condition` behind a future that may
/// be left out, `else => handler` where no branch is left, and `biased;` to poll in the order that
/// is written.
///
/// Without `biased;` each poll begins with any of the branches, and the search picks which: every
/// one of them is explored. The macros of tokio and futures draw it at random, which Dally does not
/// control, so that a schedule would mean something else every time.
///
/// ```
/// use dally_tasks::{TaskProgram, select, sync::mpsc};
///
/// TaskProgram::new("either", || async {
///     let (left, mut lefts) = mpsc::unbounded_channel();
///     let (right, mut rights) = mpsc::unbounded_channel();
///     left.send(1).unwrap();
///     right.send(2).unwrap();
///     let first = select! {
///         Some(n) = lefts.recv() => n,
///         Some(n) = rights.recv() => n,
///         else => unreachable!("both have sent"),
///     };
///     assert!(first == 1 || first == 2);
/// });
/// ```
///
/// # Panics
/// If no branch is left and there is no `else`, and where [`choose`](crate::choose) does.
#[macro_export]
macro_rules! select {
    (biased; $($branches:tt)+) => { $crate::__select!(@branches biased [] $($branches)+) };
    ($($branches:tt)+) => { $crate::__select!(@branches any [] $($branches)+) };
}

/// The parts of [`select!`]. Branches are read one by one; each has variables of its own, because
/// names of different expansions are different.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    (@branches $how:ident [$($done:tt)*] else => $otherwise:expr $(,)?) => {
        $crate::__select!(@poll $how [$($done)*] $otherwise)
    };
    (@branches $how:ident [$($done:tt)*]) => {
        $crate::__select!(@poll $how [$($done)*] ::std::panic!(
            "all branches of a `select!` are disabled and there is no `else`"
        ))
    };
    (@branches $how:ident [$($done:tt)*]
        $pattern:pat = $future:expr, if $condition:expr => $handler:block, $($rest:tt)*) => {
        $crate::__select!(@branches $how
            [$($done)* { open future output ($pattern) ($future) ($condition) ($handler) }]
            $($rest)*)
    };
    (@branches $how:ident [$($done:tt)*]
        $pattern:pat = $future:expr => $handler:block, $($rest:tt)*) => {
        $crate::__select!(@branches $how
            [$($done)* { open future output ($pattern) ($future) (true) ($handler) }]
            $($rest)*)
    };
    (@branches $how:ident [$($done:tt)*]
        $pattern:pat = $future:expr, if $condition:expr => $handler:block $($rest:tt)*) => {
        $crate::__select!(@branches $how
            [$($done)* { open future output ($pattern) ($future) ($condition) ($handler) }]
            $($rest)*)
    };
    (@branches $how:ident [$($done:tt)*]
        $pattern:pat = $future:expr => $handler:block $($rest:tt)*) => {
        $crate::__select!(@branches $how
            [$($done)* { open future output ($pattern) ($future) (true) ($handler) }]
            $($rest)*)
    };
    (@branches $how:ident [$($done:tt)*]
        $pattern:pat = $future:expr, if $condition:expr => $handler:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@branches $how
            [$($done)* { open future output ($pattern) ($future) ($condition) ($handler) }]
            $($($rest)*)?)
    };
    (@branches $how:ident [$($done:tt)*]
        $pattern:pat = $future:expr => $handler:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@branches $how
            [$($done)* { open future output ($pattern) ($future) (true) ($handler) }]
            $($($rest)*)?)
    };
    // There is nothing but an `else`.
    (@poll $how:ident [] $otherwise:expr) => { $otherwise };
    (@poll $how:ident [$({ $open:ident $future:ident $output:ident
        ($pattern:pat) ($made:expr) ($condition:expr) ($handler:expr) })+]
        $otherwise:expr) => {{
        $(
            let mut $open: bool = $condition;
            let mut $output = ::core::option::Option::None;
        )+
        {
            $(let mut $future = ::core::pin::pin!(::core::future::IntoFuture::into_future($made));)+
            ::core::future::poll_fn(|cx| {
                let count = [$($open),+].len();
                let start = $crate::__select!(@start $how [$($open),+]);
                let mut pending = false;
                for turn in 0..count {
                    let mut branch = (start + turn) % count;
                    $(
                        if branch == 0 && $open {
                            match ::core::future::Future::poll($future.as_mut(), cx) {
                                ::core::task::Poll::Pending => pending = true,
                                ::core::task::Poll::Ready(value) => {
                                    $open = false;
                                    let mut fits = false;
                                    // No value is moved, because no arm with a pattern is taken.
                                    #[allow(unused_variables, unused_mut, unreachable_patterns)]
                                    match value {
                                        $pattern if { fits = true; false } => {
                                            ::core::unreachable!()
                                        }
                                        _ => {}
                                    }
                                    if fits {
                                        $output = ::core::option::Option::Some(value);
                                        return ::core::task::Poll::Ready(());
                                    }
                                }
                            }
                        }
                        branch = branch.wrapping_sub(1);
                    )+
                    let _ = branch;
                }
                if pending { ::core::task::Poll::Pending } else { ::core::task::Poll::Ready(()) }
            })
            .await
        }
        $(if let ::core::option::Option::Some($pattern) = $output { $handler } else)+ {
            $otherwise
        }
    }};
    (@start biased [$($open:expr),+]) => { 0 };
    (@start any [$($open:expr),+]) => { $crate::__start_of_select(&[$($open),+]) };
}

/// The branch with which a poll of [`select!`] begins. Where no more than one is open, there is
/// nothing to choose.
#[doc(hidden)]
#[track_caller]
pub fn __start_of_select(open: &[bool]) -> usize {
    let mut open = open.iter().enumerate().filter(|(_, open)| **open).map(|(branch, _)| branch);
    let choices = open.clone().count();
    if choices < 2 { 0 } else { open.nth(crate::choose(choices)).unwrap_or(0) }
}
