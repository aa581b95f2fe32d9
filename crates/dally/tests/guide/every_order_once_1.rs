#[dally::test(search = "dpor")]
async fn every_item_is_taken_once() {
    let (sender, mut receiver) = dally::tasks::sync::mpsc::unbounded_channel();
    for item in [1, 2] {
        let sender = sender.clone();
        dally::tasks::spawn(async move { sender.send(item).unwrap() });
    }
    drop(sender);
    let taken = [receiver.recv().await, receiver.recv().await, receiver.recv().await];
    assert!(taken == [Some(1), Some(2), None] || taken == [Some(2), Some(1), None]);
}
