//! Memory that is brought before it is needed.
#![allow(unsafe_code)]

/// Has the first cache line of a value brought near, without waiting for it.
#[inline]
pub(super) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor writes as far as the program can tell, and does
        // not fault whatever the address; this one is that of a live value.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_before_and_after() {
        let values: Vec<u64> = (0..1000).collect();
        values.iter().for_each(prefetch);
        assert!(values.iter().copied().eq(0..1000));
    }
}
