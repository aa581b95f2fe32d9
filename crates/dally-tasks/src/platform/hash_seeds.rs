//! The seeds of the standard library's hash maps, which are the same in every execution.
//!
//! The library draws two random words for each thread when the first map is made there, and adds 1 to one of
//! them for each map. So the order of a map would depend on what the thread has run before. The words are
//! searched for in the memory of the thread's variables, once for each thread, and set when an execution
//! begins. If the library came to do it otherwise, nothing would be found or the trial would fail, and seeds
//! would stay as they are.
#![allow(unsafe_code)]

/// Sets the seeds of the maps that this thread makes from here on.
pub(super) fn reset() {
    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    linux::reset();
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
mod linux {
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    #[expect(clippy::disallowed_types, reason = "its seed is what is controlled here")]
    use std::hash::RandomState;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// What the words are when an execution begins.
    const SEEDS: [u64; 2] = [0x6461_6c6c_795f_6861, 0x7368_5f73_6565_6473];

    thread_local! {
        /// The two words of this thread, once they were searched for.
        static WORDS: Cell<Option<Option<&'static [AtomicU64; 2]>>> = const { Cell::new(None) };
    }

    pub(super) fn reset() {
        let words = WORDS.get().unwrap_or_else(|| {
            let found = find();
            WORDS.set(Some(found));
            found
        });
        if let Some(words) = words {
            set(words, SEEDS);
        }
    }

    fn set(words: &[AtomicU64; 2], to: [u64; 2]) {
        words.iter().zip(to).for_each(|(word, to)| word.store(to, Ordering::Relaxed));
    }

    fn get(words: &[AtomicU64; 2]) -> [u64; 2] {
        words.each_ref().map(|word| word.load(Ordering::Relaxed))
    }

    /// The two words of this thread, if there is exactly one place where they can be and a trial shows that the
    /// next map gets what is there.
    ///
    /// The reference must stay on this thread: the memory is gone with it.
    fn find() -> Option<&'static [AtomicU64; 2]> {
        let mut search = Search { seeds: next_seeds()?, found: Vec::new() };
        // SAFETY: `look` is of the type that the function calls, which it does before it returns, with the
        // pointer to the search, which nobody else has meanwhile.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
        let [words] = search.found[..] else { return None };
        let before = get(words);
        set(words, SEEDS);
        let tried = next_seeds()?;
        let after = get(words);
        let counted = (0..2).any(|at| {
            let mut expected = SEEDS;
            expected[at] = expected[at].wrapping_add(1);
            after == expected
        });
        if counted && is_same_pair(tried, SEEDS) {
            return Some(words);
        }
        set(words, before);
        None
    }

    fn is_same_pair(one: [u64; 2], other: [u64; 2]) -> bool {
        one == other || one == [other[1], other[0]]
    }

    /// The two words that a map made now gets.
    #[expect(clippy::disallowed_types, reason = "its seed is what is controlled here")]
    fn next_seeds() -> Option<[u64; 2]> {
        let state = RandomState::new();
        // SAFETY: it is of the size of two words, so it has no padding if it holds them; if it held anything
        // else that could be without a value, it would hold a pointer or a flag, and the standard
        // library's has private fields of type `u64` alone. The trial in `find` shows that it still has.
        (size_of::<RandomState>() == 16)
            .then(|| unsafe { (&raw const state).cast::<[u64; 2]>().read_unaligned() })
    }

    struct Search {
        /// What the map before has got.
        seeds: [u64; 2],
        found: Vec<&'static [AtomicU64; 2]>,
    }

    impl Search {
        /// Whether the library would hold this after that map.
        fn fits(&self, words: [u64; 2]) -> bool {
            let [one, other] = self.seeds;
            is_same_pair(words, [one.wrapping_add(1), other])
                || is_same_pair(words, [one, other.wrapping_add(1)])
        }
    }

    /// Looks through the variables that this thread has of one part of the program (the binary, or a library).
    unsafe extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        search: *mut c_void,
    ) -> c_int {
        // SAFETY: `find` passes this pointer, and has lent what it points to.
        let search = unsafe { &mut *search.cast::<Search>() };
        // SAFETY: the loader hands a valid description.
        let info = unsafe { &*info };
        if info.dlpi_tls_data.is_null() || info.dlpi_phdr.is_null() {
            return 0;
        }
        // SAFETY: the description has so many headers there.
        let headers =
            unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let Some(header) = headers.iter().find(|header| header.p_type == libc::PT_TLS) else {
            return 0;
        };
        let size = usize::try_from(header.p_memsz).unwrap_or(0);
        let base = info.dlpi_tls_data.cast::<u8>();
        let first = base.align_offset(align_of::<u64>());
        let mut at = first;
        while at + 16 <= size {
            // SAFETY: the thread's variables of this part lie in so many bytes from there, and stay as long as
            // the thread. The place is aligned and inside of them. They are read as words of memory that
            // other variables may lie in: whatever is there is a number, and reads are atomic, as others
            // may write to what they have lent of this thread. What is written is the pair that was found,
            // which is a `Cell` that only this thread reaches, and only by calls of the library that
            // return before this does.
            let words = unsafe { &*base.add(at).cast::<[AtomicU64; 2]>() };
            if search.fits(get(words)) {
                search.found.push(words);
            }
            at += align_of::<u64>();
        }
        0
    }
}
