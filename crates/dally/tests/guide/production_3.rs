use dally::machines::host::Store;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

/// A number in a file, replaced as a whole: a crash leaves the old file or the new one.
struct NumberFile(PathBuf);

impl Store<u64> for NumberFile {
    fn load(&mut self) -> io::Result<Option<u64>> {
        match fs::read_to_string(&self.0) {
            Ok(text) => text.trim().parse().map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save(&mut self, durable: &u64) -> io::Result<()> {
        let new = self.0.with_extension("new");
        let mut file = File::create(&new)?;
        write!(file, "{durable}")?;
        file.sync_all()?;
        fs::rename(&new, &self.0)?;
        // The new name must be on the disk too.
        match self.0.parent() {
            Some(directory) => File::open(directory)?.sync_all(),
            None => Ok(()),
        }
    }
}

#[test]
fn a_counter_goes_on_where_it_was() {
    use dally::machine;
    use dally::machines::host::Host;
    use dally::machines::{Addr, Cx};

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Add(u64);

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Counter {
        total: u64,
    }

    #[machine(states(Counting), durable = u64)]
    impl Counter {
        fn recover(self, durable: Option<u64>) -> Self {
            Counter { total: durable.unwrap_or(0) }
        }

        #[on(Counting, Add)]
        fn add(&mut self, cx: &mut Cx<Self>, Add(n): Add) {
            self.total += n;
            cx.persist(self.total);
        }
    }

    let directory = std::env::temp_dir().join(format!("dally-guide-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for _ in 0..3 {
        let directory = directory.clone();
        let report = runtime.block_on(async {
            let host = Host::builder()
                .store(move |counter: Addr<Counter>| {
                    NumberFile(directory.join(counter.id().to_string()))
                })
                .build();
            let counter = host.create(Counter { total: 0 });
            host.send(counter, Add(7)).unwrap();
            host.shutdown().await
        });
        assert!(report.is_clean(), "{report}");
    }
    assert_eq!(fs::read_to_string(directory.join("0")).unwrap(), "21");
    fs::remove_dir_all(directory).unwrap();
}
