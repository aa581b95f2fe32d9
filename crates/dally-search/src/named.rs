//! Enums whose values have names that people write.

/// Gives an enum the names of a list of `dally-settings`, in its order: `NAMES`, `ALL`, and the
/// text that `Display` writes and `FromStr` reads back.
macro_rules! named {
    ($kind:ident, $names:path, $($value:ident),+ $(,)?) => {
        impl $kind {
            /// All values.
            pub const ALL: [$kind; [$($kind::$value),+].len()] = [$($kind::$value),+];

            /// The names that can be given, in the order of [`Self::ALL`].
            pub const NAMES: [&'static str; $kind::ALL.len()] = $names.array();
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($kind::NAMES[*self as usize])
            }
        }

        impl std::str::FromStr for $kind {
            type Err = dally_settings::UnknownName;

            fn from_str(text: &str) -> Result<$kind, dally_settings::UnknownName> {
                $names.find(text).map(|place| $kind::ALL[place])
            }
        }
    };
}

pub(crate) use named;

#[cfg(test)]
mod tests {
    use crate::liveness::Fairness;
    use crate::strata::{ExplorerKind, SearchKind};

    #[test]
    fn every_value_has_its_own_name() {
        macro_rules! pairs {
            ($($kind:ident)+) => {
                [$($kind::ALL.map(|value| {
                    assert_eq!(value.to_string().parse(), Ok(value));
                    format!("{value:?} {value}")
                }).join("\n")),+]
            };
        }
        let pairs = pairs!(SearchKind ExplorerKind Fairness).join("\n");
        insta::assert_snapshot!(pairs, @"
        Ses ses
        Ss ss
        Hybrid hybrid
        Preemptions pb
        Depth depth
        Dfs dfs
        Bfs bfs
        Ndfs ndfs
        IterativeNdfs iterative-ndfs
        Map map
        Components components
        Dpor dpor
        Concolic concolic
        RoundRobin rr
        RunToCompletion rtc
        Probabilistic prr
        Random random
        None none
        Weak weak
        Strong strong
        ");
        insta::assert_snapshot!("sse".parse::<SearchKind>().unwrap_err(), @"no search `sse`: did you mean `ses`? There are ses, ss, hybrid, pb, depth, dfs, bfs, ndfs, iterative-ndfs, map, components, dpor, concolic");
        insta::assert_snapshot!("fair".parse::<Fairness>().unwrap_err(), @"no fairness `fair`. There are none, weak, strong");
    }
}
