use dally::tasks::{spawn, sync::Mutex};
use std::sync::Arc;

struct Account {
    balance: Mutex<u32>,
}

impl Account {
    /// Takes the money if there is enough. The bug: another task may run between the two locks.
    async fn withdraw(&self, amount: u32) -> bool {
        let enough = *self.balance.lock().await >= amount;
        if enough {
            *self.balance.lock().await -= amount;
        }
        enough
    }
}

#[dally::test(should_fail = "subtract with overflow")]
async fn nobody_gets_money_that_is_not_there() {
    let account = Arc::new(Account { balance: Mutex::new(100) });
    let customers: Vec<_> = (0..2)
        .map(|_| {
            let account = Arc::clone(&account);
            spawn(async move { account.withdraw(100).await })
        })
        .collect();
    for customer in customers {
        customer.await.unwrap();
    }
}
