//! One worker's day with lmstfy's own client for Rust. Prints what it saw, each thing a line that begins with `seen:`.
use lmstfy_client::api::{Client, Job};
use lmstfy_client::errors::APIError;

fn names(jobs: &[Job]) -> Vec<String> {
    jobs.iter().map(|j| format!("{}/{} {}", j.namespace, j.queue, j.data)).collect()
}

#[tokio::main]
async fn main() -> Result<(), APIError> {
    let args: Vec<String> = std::env::args().collect();
    let client = Client::new("shop", &args[2], "127.0.0.1", args[1].parse().unwrap(), 3, 50);
    let q = |name: &str| name.to_string();
    let publish = |queue: &str, data: &str, ttl: u32, tries: u32, delay: u32| {
        client.publish(queue.to_string(), String::new(), data.as_bytes().to_vec(), ttl, tries, delay)
    };

    let (order, request) = publish("orders", "Grüße", 0, 2, 0).await?;
    let (urgent, _) = publish("urgent", "now", 3600, 1, 0).await?;
    println!("seen: published {} {}", order != urgent, !request.is_empty());
    println!("seen: sizes {} {}", client.queue_size(q("orders")).await?, client.queue_size(q("none")).await?);
    let head = client.peek_queue(q("orders")).await?.unwrap();
    let peeked = client.peek_job(q("urgent"), urgent.clone()).await?.unwrap();
    println!("seen: peeked {} {} {}", head.job_id == order, peeked.data, peeked.ttl > 3000);
    let none = [client.peek_queue(q("none")).await?, client.peek_job(q("orders"), urgent.clone()).await?];
    println!("seen: unknown {}", none.iter().all(|job| job.is_none()));

    let first = client.consume_from_queues(vec![q("urgent"), q("orders")], 30, 5).await?;
    println!("seen: first {:?}", names(&first));
    client.ack(q("urgent"), urgent.clone()).await?;
    client.ack(q("urgent"), urgent).await?;
    let second = client.consume_from_queues(vec![q("urgent"), q("orders")], 1, 5).await?;
    println!("seen: second {:?} {} {}", names(&second), second[0].ttl, second[0].job_id == order);
    println!("seen: again {}", client.consume(q("orders"), 1, 30).await?[0].job_id == order);

    while client.peek_dead_letter(q("orders")).await?.0 == 0 {
        tokio::time::delay_for(std::time::Duration::from_millis(50)).await;
    }
    println!("seen: dead {} {}", client.peek_dead_letter(q("orders")).await?.1 == order, client.queue_size(q("orders")).await?);
    println!("seen: respawned {}", client.respawn_dead_letter(q("orders"), 10, 60).await?);
    let respawned = client.consume(q("orders"), 30, 5).await?;
    println!("seen: consumed {} {}", respawned[0].job_id == order, respawned[0].ttl > 30);

    let (again, _) = client.publish(q("orders"), order.clone(), b"later".to_vec(), 60, 1, 1).await?;
    println!("seen: republished {} {}", again != order, client.peek_job(q("orders"), order).await?.is_none());
    println!("seen: delayed {}", client.consume(q("orders"), 30, 0).await?.is_empty());
    println!("seen: due {:?}", names(&client.consume(q("orders"), 30, 30).await?));
    client.ack(q("orders"), again).await?;

    for n in 0..4 {
        publish("many", &n.to_string(), 60, 1, 0).await?;
    }
    let three = client.batch_consume(q("many"), 30, 5, 3).await?;
    let last = client.batch_consume(q("many"), 30, 5, 3).await?;
    println!("seen: batches {} {}", three.len(), last.len());

    let refused = publish("or ders", "x", 0, 1, 0).await.unwrap_err();
    println!("seen: refused {}", refused.reason);
    let foreign = Client::new("other", &args[2], "127.0.0.1", args[1].parse().unwrap(), 0, 0);
    println!("seen: foreign {}", foreign.queue_size(q("orders")).await.is_err());
    Ok(())
}
