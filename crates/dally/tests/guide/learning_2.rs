use dally::tasks::{observe, observe_shared, spawn, sync::Mutex};
use std::sync::Arc;

#[dally::test(strategy = "ql-c", schedules = 200)]
async fn a_stack_under_a_lock() {
    let stack = Arc::new(Mutex::new(vec![1, 2, 3]));
    let thief = stack.clone();
    let other = spawn(async move {
        for taken in 0..3 {
            let mut stack = thief.lock().await;
            stack.pop();
            observe_shared("stack", &*stack); // what all tasks share: the last value counts
            observe(&taken); // where this task stands
        }
    });
    stack.lock().await.push(4);
    other.await.unwrap();
}
