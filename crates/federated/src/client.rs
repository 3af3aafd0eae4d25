//! The client's side: from an order and an update to an answer.

use crate::guarantee::committee::add_share;
use crate::guarantee::{Bound, PlanError, clipped};
use crate::message::{MessageError, Order, Update};
use tacita_mechanism::noise::NoiseError;
use tacita_mechanism::{KeyError, Keys};
use thiserror::Error;

/// Why a client does not answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The bytes are no order.
    #[error("cannot read the order: {0}; nothing was sent")]
    Message(#[from] MessageError),
    /// An update of another length than the model. Which one it is depends on the program, not on records.
    #[error(
        "the update has {seen} values, and the model has {expected} parameters; nothing was sent"
    )]
    OtherLength {
        /// Values.
        seen: usize,
        /// Parameters.
        expected: usize,
    },
    /// The order's threshold or model cannot be used.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An order for a share of noise, or one for none.
    #[error("{0}; nothing was sent")]
    OtherNoise(&'static str),
    /// No key for a share of the noise.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// No share of the noise.
    #[error(transparent)]
    Noise(#[from] NoiseError),
}

/// One round as a client sees it.
///
/// ```
/// use tacita_federated::{Client, Clip, Order};
///
/// let order = Order {
///     run: [0; 16], round: 0, client: 7, contribute: true,
///     clip: Clip::AUTO, threshold: 1.0, share_std: None, model: vec![0.0; 3],
/// };
/// let client = Client::asked(&order.encode())?;
/// // What is to be subtracted from the model: a gradient, or what local steps moved.
/// let answer = client.answer(&[0.3, -0.2, 0.1])?;
/// assert!(answer.len() < 100);
/// # Ok::<(), tacita_federated::ClientError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    order: Order,
    bound: Bound,
}

impl Client {
    /// Reads an order.
    pub fn asked(order: &[u8]) -> Result<Self, ClientError> {
        let order = Order::decode(order)?;
        let bound = Bound::of(order.threshold)?;
        Ok(Self { order, bound })
    }

    /// The order.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// The model that the update starts from.
    pub fn model(&self) -> &[f32] {
        &self.order.model
    }

    /// The answer to the server: the update, clipped and rounded. A value that is no finite number makes it zeros.
    ///
    /// An update is what the server is to subtract from the model, but for the learning rate: the gradient of the
    /// client's records (FedSGD), or the model before its local steps less the model after them (DP-FedAvg, see
    /// [`local_steps`]).
    pub fn answer(&self, update: &[f32]) -> Result<Vec<u8>, ClientError> {
        self.answer_for([update])
    }

    /// The answer of a site for several of its clients that were drawn: their updates, each clipped and rounded by itself,
    /// are added as whole numbers.
    ///
    /// # Guarantee
    /// A client that is added or removed moves the sum by at most the threshold. Checked by
    /// `a_site_adds_its_clients_up_as_the_server_would`.
    pub fn answer_for<'a>(
        &self,
        updates: impl IntoIterator<Item = &'a [f32]>,
    ) -> Result<Vec<u8>, ClientError> {
        if self.order.share_std.is_some() {
            return Err(ClientError::OtherNoise(
                "the order asks for a share of the noise, so its answer is for secure aggregation only",
            ));
        }
        let Order {
            run, round, client, ..
        } = self.order;
        let mut steps = vec![0i32; self.order.model.len()];
        for update in updates {
            for (sum, step) in steps.iter_mut().zip(self.steps(update)?) {
                *sum = sum.wrapping_add(step);
            }
        }
        let update = Update {
            run,
            round,
            client,
            steps,
        };
        Ok(update.encode())
    }

    /// What the client hands to secure aggregation, and to nothing else: its clipped update if it was drawn, and its
    /// share of the noise, from the operating system's generator, if it is of the committee. Modulo 2^64.
    pub fn masked_answer(&self, update: &[f32]) -> Result<Vec<i64>, ClientError> {
        self.masked_answer_with(update, &Keys::from_os()?)
    }

    /// The same with given keys; with those of a fixed seed nothing is private.
    pub fn masked_answer_with(&self, update: &[f32], keys: &Keys) -> Result<Vec<i64>, ClientError> {
        let mut steps: Vec<i64> = self.steps(update)?.into_iter().map(i64::from).collect();
        if let Some(share_std) = self.order.share_std {
            add_share(keys, self.order.round, share_std, &mut steps)?;
        }
        Ok(steps)
    }

    fn steps(&self, update: &[f32]) -> Result<Vec<i32>, ClientError> {
        let expected = self.order.model.len();
        if !self.order.contribute {
            return Ok(vec![0; expected]);
        }
        match update.len() == expected {
            true => Ok(clipped(update, self.order.clip, &self.bound)),
            false => Err(ClientError::OtherLength {
                seen: update.len(),
                expected,
            }),
        }
    }
}

/// The update of several local steps of gradient descent: the model before less the model after them. It is clipped once,
/// as a whole.
///
/// ```
/// use tacita_federated::local_steps;
///
/// // Three steps down a slope of 2 at a rate of 0.1 move a parameter by −0.6.
/// let update = local_steps(&[1.0], 3, 0.1, |_model| vec![2.0]);
/// assert!((update[0] - 0.6).abs() < 1e-6);
/// ```
pub fn local_steps(
    model: &[f32],
    steps: usize,
    learning_rate: f32,
    mut gradient: impl FnMut(&[f32]) -> Vec<f32>,
) -> Vec<f32> {
    let mut moved = model.to_vec();
    for _ in 0..steps {
        let gradient = gradient(&moved);
        for (value, slope) in moved.iter_mut().zip(gradient) {
            *value -= learning_rate * slope;
        }
    }
    let apart = |(before, after): (&f32, f32)| before - after;
    model.iter().zip(moved).map(apart).collect()
}
