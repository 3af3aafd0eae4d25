//! Released values as bytes, for the ranks that did not draw the noise.

/// What the first rank tells the others.
pub(super) trait Told: Sized {
    fn to_bytes(&self) -> Vec<u8>;

    /// None if the bytes are those of something else.
    fn of_bytes(bytes: &[u8]) -> Option<Self>;
}

impl Told for Vec<f64> {
    fn to_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks::<8>();
        let values = values.iter().map(|bytes| f64::from_le_bytes(*bytes));
        rest.is_empty().then(|| values.collect())
    }
}

/// The noisy values of a step, by parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct StepValues {
    pub gradient: Vec<Vec<f32>>,
    pub directions: Option<Vec<Vec<f32>>>,
    pub counts: Option<Vec<f64>>,
}

impl Told for StepValues {
    fn to_bytes(&self) -> Vec<u8> {
        let directions = self.directions.iter().flatten();
        let all = self.gradient.iter().chain(directions);
        let numbers: usize = all.map(Vec::len).sum();
        let mut bytes = Vec::with_capacity(4 * numbers + 64);
        push_vectors(&mut bytes, &self.gradient);
        push_vectors(&mut bytes, self.directions.as_deref().unwrap_or_default());
        bytes.extend(self.counts.iter().flat_map(Told::to_bytes));
        bytes
    }

    fn of_bytes(mut bytes: &[u8]) -> Option<Self> {
        let gradient = take_vectors(&mut bytes)?;
        let directions = take_vectors(&mut bytes)?;
        let counts = Vec::of_bytes(bytes)?;
        Some(Self {
            gradient,
            directions: Some(directions).filter(|all| !all.is_empty()),
            counts: Some(counts).filter(|all| !all.is_empty()),
        })
    }
}

fn push_vectors(bytes: &mut Vec<u8>, vectors: &[Vec<f32>]) {
    bytes.extend((vectors.len() as u64).to_le_bytes());
    for vector in vectors {
        bytes.extend((vector.len() as u64).to_le_bytes());
        let first = bytes.len();
        bytes.resize(first + 4 * vector.len(), 0);
        let (places, _) = bytes[first..].as_chunks_mut::<4>();
        for (place, value) in places.iter_mut().zip(vector) {
            *place = value.to_le_bytes();
        }
    }
}

fn take_vectors(bytes: &mut &[u8]) -> Option<Vec<Vec<f32>>> {
    let count = take_number(bytes)?;
    let vectors = (0..count).map(|_| {
        let length = usize::try_from(take_number(bytes)?).ok()?.checked_mul(4)?;
        let (values, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        let (values, _) = values.as_chunks::<4>();
        Some(
            values
                .iter()
                .map(|value| f32::from_le_bytes(*value))
                .collect(),
        )
    });
    vectors.collect()
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn released_values_come_back_bit_for_bit() {
        let gradient = vec![vec![1.5, -0.0, f32::MIN_POSITIVE], vec![], vec![f32::MAX]];
        let directions = [None, Some(vec![vec![0.1; 3], vec![], vec![-7.0]])];
        let counts = [None, Some(vec![0.1 + 0.2, -0.0])];
        for (directions, counts) in directions
            .iter()
            .flat_map(|d| counts.iter().map(move |c| (d, c)))
        {
            let values = StepValues {
                gradient: gradient.clone(),
                directions: directions.clone(),
                counts: counts.clone(),
            };
            let bytes = values.to_bytes();
            let back = StepValues::of_bytes(&bytes).unwrap();
            assert_eq!(format!("{back:?}"), format!("{values:?}"));
            assert_eq!(StepValues::of_bytes(&bytes[..bytes.len() - 1]), None);
        }
    }
}
