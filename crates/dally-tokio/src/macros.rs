//! `join!`, `try_join!` and `pin!`, with the syntax of tokio's. `select!` is that of `dally_tasks`.

/// Waits for all of these futures, which run in this task, and gives all of their results.
///
/// Each poll begins with the next of them, and with `biased;` always with the first.
///
/// ```
/// # use dally_tasks::TaskProgram;
/// TaskProgram::new("both", || async {
///     let (one, two) = dally_tokio::join!(async { 1 }, async { 2 });
///     assert_eq!(one + two, 3);
/// });
/// ```
#[macro_export]
macro_rules! join {
    (biased; $($future:expr),* $(,)?) => { $crate::__join!(@take 0 [] $($future,)*) };
    ($($future:expr),* $(,)?) => { $crate::__join!(@take 1 [] $($future,)*) };
}

/// As [`join!`] for futures with `Result`s: gives all values, or the first error at once.
#[macro_export]
macro_rules! try_join {
    (biased; $($future:expr),* $(,)?) => { $crate::__join!(@take_try 0 [] $($future,)*) };
    ($($future:expr),* $(,)?) => { $crate::__join!(@take_try 1 [] $($future,)*) };
}

/// The parts of [`join!`] and [`try_join!`]. Futures are read one by one; each has variables of its
/// own, because names of different expansions are different.
#[doc(hidden)]
#[macro_export]
macro_rules! __join {
    (@take $turn:tt [$($done:tt)*] $future:expr, $($rest:tt)*) => {
        $crate::__join!(@take $turn [$($done)* { future output ($future) }] $($rest)*)
    };
    (@take_try $turn:tt [$($done:tt)*] $future:expr, $($rest:tt)*) => {
        $crate::__join!(@take_try $turn [$($done)* { future output ($future) }] $($rest)*)
    };
    (@take $turn:tt []) => { ::core::future::ready(()).await };
    (@take_try $turn:tt []) => { ::core::future::ready(::core::result::Result::Ok(())).await };
    (@take $turn:tt [$({ $future:ident $output:ident ($made:expr) })+]) => {{
        $(
            let mut $future = ::core::pin::pin!(::core::future::IntoFuture::into_future($made));
            let mut $output = ::core::option::Option::None;
        )+
        let count = [$($output.is_none()),+].len();
        let mut first = 0;
        ::core::future::poll_fn(|cx| {
            let start = first;
            first = (first + $turn) % count;
            let mut pending = false;
            for turn in 0..count {
                let mut place = (start + turn) % count;
                $(
                    if place == 0 && $output.is_none() {
                        match ::core::future::Future::poll($future.as_mut(), cx) {
                            ::core::task::Poll::Pending => pending = true,
                            ::core::task::Poll::Ready(value) => {
                                $output = ::core::option::Option::Some(value);
                            }
                        }
                    }
                    place = place.wrapping_sub(1);
                )+
                let _ = place;
            }
            match pending {
                true => ::core::task::Poll::Pending,
                false => ::core::task::Poll::Ready(($($output.take().expect("it is ready"),)+)),
            }
        })
        .await
    }};
    (@take_try $turn:tt [$({ $future:ident $output:ident ($made:expr) })+]) => {{
        $(
            let mut $future = ::core::pin::pin!(::core::future::IntoFuture::into_future($made));
            let mut $output = ::core::option::Option::None;
        )+
        let count = [$($output.is_none()),+].len();
        let mut first = 0;
        ::core::future::poll_fn(|cx| {
            let start = first;
            first = (first + $turn) % count;
            let mut pending = false;
            for turn in 0..count {
                let mut place = (start + turn) % count;
                $(
                    if place == 0 && $output.is_none() {
                        match ::core::future::Future::poll($future.as_mut(), cx) {
                            ::core::task::Poll::Pending => pending = true,
                            ::core::task::Poll::Ready(::core::result::Result::Ok(value)) => {
                                $output = ::core::option::Option::Some(value);
                            }
                            ::core::task::Poll::Ready(::core::result::Result::Err(error)) => {
                                return ::core::task::Poll::Ready(::core::result::Result::Err(error));
                            }
                        }
                    }
                    place = place.wrapping_sub(1);
                )+
                let _ = place;
            }
            match pending {
                true => ::core::task::Poll::Pending,
                false => ::core::task::Poll::Ready(::core::result::Result::Ok(
                    ($($output.take().expect("it is ready"),)+)
                )),
            }
        })
        .await
    }};
}

/// Pins a value to the stack: a variable, or the value of a `let`.
///
/// ```
/// # use std::pin::Pin;
/// let future = async { 1 };
/// dally_tokio::pin!(future);
/// let _: Pin<&mut _> = future;
/// ```
#[macro_export]
macro_rules! pin {
    ($($name:ident),* $(,)?) => {
        $(let mut $name = ::core::pin::pin!($name);)*
    };
    ($(let $name:ident = $made:expr;)*) => {
        $(let mut $name = ::core::pin::pin!($made);)*
    };
}
