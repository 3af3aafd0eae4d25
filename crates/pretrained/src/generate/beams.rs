//! Beam search.

use super::Generation;
use super::step::{Steps, log_probabilities};
use crate::decoder::Decoder;

/// A text that is followed.
#[derive(Debug, Clone)]
struct Beam {
    tokens: Vec<u32>,
    /// The logarithm of its probability.
    score: f64,
}

/// A text and one more token.
struct Candidate {
    beam: usize,
    token: u32,
    score: f64,
}

/// The text of the best score: its log probability divided by its length to the power `length_penalty`. As many
/// texts are followed as `count`; the search ends when as many have ended. Equal to the beam search of
/// `transformers` 5.23 with `early_stopping=True`.
pub(super) fn search(
    decoder: &Decoder,
    prompt: &[u32],
    generation: &Generation,
    count: usize,
    length_penalty: f64,
) -> Vec<u32> {
    let (mut steps, mut scores) = Steps::begin(decoder, prompt);
    let mut beams = vec![Beam {
        tokens: Vec::new(),
        score: 0.0,
    }];
    let mut ended: Vec<Beam> = Vec::new();
    loop {
        let length = beams[0].tokens.len() + 1;
        // Enough that `count` texts go on even if every stop token is among the best.
        let candidates = best(&beams, &scores, count * (generation.stop.len() + 1).max(2));
        let ends = |candidate: &Candidate| {
            length == generation.length || generation.stop.contains(&candidate.token)
        };
        let with = |candidate: &Candidate, score: f64| Beam {
            tokens: [&beams[candidate.beam].tokens[..], &[candidate.token]].concat(),
            score,
        };
        let new = candidates
            .iter()
            .take(count)
            .filter(|candidate| ends(candidate));
        ended.extend(new.map(|c| with(c, c.score / (length as f64).powf(length_penalty))));
        ended.sort_by(|a, b| b.score.total_cmp(&a.score));
        ended.truncate(count);
        let on: Vec<&Candidate> = candidates.iter().filter(|c| !ends(c)).take(count).collect();
        if ended.len() == count || on.is_empty() {
            return ended
                .into_iter()
                .next()
                .map_or(Vec::new(), |best| best.tokens);
        }
        let texts: Vec<usize> = on.iter().map(|candidate| candidate.beam).collect();
        let tokens: Vec<u32> = on.iter().map(|candidate| candidate.token).collect();
        beams = on.into_iter().map(|c| with(c, c.score)).collect();
        scores = steps.next(&texts, &tokens);
    }
}

/// The best texts of one more token, best first.
fn best(beams: &[Beam], scores: &[f32], count: usize) -> Vec<Candidate> {
    let vocabulary = scores.len() / beams.len();
    let rows = scores.chunks_exact(vocabulary).zip(beams).enumerate();
    let mut candidates: Vec<Candidate> = rows
        .flat_map(|(beam, (scores, text))| {
            let logarithms = log_probabilities(scores).into_iter().enumerate();
            logarithms.map(move |(token, logarithm)| Candidate {
                beam,
                token: token as u32,
                score: text.score + logarithm,
            })
        })
        .collect();
    let better = |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score);
    if candidates.len() > count {
        candidates.select_nth_unstable_by(count - 1, better);
        candidates.truncate(count);
    }
    candidates.sort_by(better);
    candidates
}
