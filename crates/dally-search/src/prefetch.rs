//! Prefetching of memory.
#![allow(unsafe_code)]

/// Prefetches the first cache line of a value.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
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

/// Prefetches all cache lines of a value.
#[inline]
pub(crate) fn prefetch_all<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        for at in (0..size_of_val(value)).step_by(64) {
            // SAFETY: as above; the address is computed without a claim that anything is there.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Prefetches the first cache line of a value to be written: other processors give it up early.
#[inline]
pub(crate) fn prefetch_to_write<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: as above. The instruction is a hint that changes no register, flag or memory as
        // far as the program can tell. All AMD processors for 64 bits have it, and those of Intel
        // since Broadwell; older ones of Intel do nothing, but for the first of all, which do not
        // know it and are not supported. The standard library offers it only under a compiler flag.
        unsafe {
            std::arch::asm!(
                "prefetchw [{line}]",
                line = in(reg) std::ptr::from_ref(value),
                options(nostack, preserves_flags, readonly)
            );
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_before_and_after() {
        let values: Vec<u64> = (0..1000).collect();
        values.iter().for_each(prefetch);
        values.iter().for_each(prefetch_to_write);
        prefetch_all(&values[..]);
        prefetch_all(&values[..0]);
        assert!(values.iter().copied().eq(0..1000));
    }
}
