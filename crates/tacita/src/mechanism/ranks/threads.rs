//! Ranks that are threads of one process, for tests, and for trying out what several processes would do.

use super::{Ranks, RanksError};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Whatever ranks tell each other.
enum Message {
    Numbers(Vec<i64>),
    Bytes(Vec<u8>),
}

/// One thread of several: each of the others has a channel to the first and one back.
#[derive(Debug)]
struct ThreadRank {
    rank: usize,
    size: usize,
    to: Vec<Mutex<Sender<Message>>>,
    from: Vec<Mutex<Receiver<Message>>>,
}

/// So many ranks, one for each thread. When one of them is dropped, what the others ask next is an error.
///
/// ```
/// let threads = tacita::ranks::in_threads(3).into_iter().map(|ranks| {
///     std::thread::spawn(move || {
///         let mut sum = [ranks.rank() as i64];
///         ranks.sum_to_first(&mut sum).map(|()| sum[0])
///     })
/// });
/// let threads: Vec<_> = threads.collect();
/// let sums: Vec<i64> = threads.into_iter().map(|t| t.join().unwrap().unwrap()).collect();
/// assert_eq!(sums[0], 0 + 1 + 2);
/// ```
pub fn in_threads(size: usize) -> Vec<Arc<dyn Ranks>> {
    let of = |rank| ThreadRank {
        rank,
        size,
        to: Vec::new(),
        from: Vec::new(),
    };
    let mut first = of(0);
    let mut others = Vec::new();
    for rank in 1..size {
        let mut other = of(rank);
        let (up, from_other) = channel();
        let (down, receive_from_first) = channel();
        first.to.push(Mutex::new(down));
        first.from.push(Mutex::new(from_other));
        other.to.push(Mutex::new(up));
        other.from.push(Mutex::new(receive_from_first));
        others.push(other);
    }
    let ranks = std::iter::once(first).chain(others);
    ranks.map(|rank| Arc::new(rank) as Arc<dyn Ranks>).collect()
}

fn lost() -> RanksError {
    RanksError::Lost {
        what: "its thread has ended".into(),
    }
}

impl ThreadRank {
    fn send(&self, channel: usize, message: Message) -> Result<(), RanksError> {
        let channel = self.to[channel].lock();
        let sent = channel
            .unwrap_or_else(PoisonError::into_inner)
            .send(message);
        sent.map_err(|_| lost())
    }

    fn receive(&self, channel: usize) -> Result<Message, RanksError> {
        let channel = self.from[channel].lock();
        let received = channel.unwrap_or_else(PoisonError::into_inner).recv();
        received.map_err(|_| lost())
    }

    fn numbers(&self, channel: usize, length: usize) -> Result<Vec<i64>, RanksError> {
        match self.receive(channel)? {
            Message::Numbers(numbers) if numbers.len() == length => Ok(numbers),
            _ => Err(RanksError::Differ { what: "steps" }),
        }
    }
}

impl Ranks for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn sum_to_first(&self, values: &mut [i64]) -> Result<(), RanksError> {
        if self.rank > 0 {
            return self.send(0, Message::Numbers(values.to_vec()));
        }
        for other in 0..self.from.len() {
            let numbers = self.numbers(other, values.len())?;
            values
                .iter_mut()
                .zip(numbers)
                .for_each(|(sum, more)| *sum += more);
        }
        Ok(())
    }

    fn receive_from_first(&self, bytes: &mut Vec<u8>) -> Result<(), RanksError> {
        if self.rank == 0 {
            return (0..self.to.len())
                .try_for_each(|other| self.send(other, Message::Bytes(bytes.clone())));
        }
        match self.receive(0)? {
            Message::Bytes(received) => *bytes = received,
            Message::Numbers(_) => return Err(RanksError::Differ { what: "steps" }),
        }
        Ok(())
    }

    fn all(&self, fine: bool) -> Result<bool, RanksError> {
        let mut failed = [i64::from(!fine)];
        self.sum_to_first(&mut failed)?;
        let mut answer = vec![u8::from(failed == [0])];
        self.receive_from_first(&mut answer)?;
        Ok(answer == [1])
    }
}
