use dally::tasks::sync::mpsc;

#[dally::test(search = "concolic", should_fail = "panic")]
async fn an_account_is_never_overdrawn() {
    let balance = dally::input_in("balance", 0..=1_000_000);
    let amount = dally::input("amount");
    let (tx, mut rx) = mpsc::channel(1);
    tx.send(amount).await.unwrap();
    let asked = rx.recv().await.unwrap();
    let left = if asked <= balance { balance - asked } else { balance };
    assert!(left >= 0);
}
