//! Text from a model, token by token.
//!
//! A trained model is public, so what it generates costs nothing more. Sampling takes its chance from the
//! operating system.

mod beams;
mod chance;
mod step;

use crate::decoder::Decoder;
use crate::error::PretrainedError;
use burn::module::Module;
use step::Steps;

/// How the next token is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    /// Always the likeliest.
    Greedy,
    /// The likeliest whole text among several that are followed at once (beam search).
    Beams {
        /// How many are followed.
        count: usize,
        /// Scores are divided by the length to this power: 0 prefers short texts, 1 compares means.
        length_penalty: f64,
    },
    /// By chance, among the likeliest tokens that have this share of the probability together (Holtzman et al. 2020,
    /// arXiv:1904.09751).
    TopP {
        /// The share, above 0 and at most 1.
        share: f64,
        /// What scores are divided by: below 1 sharper, above 1 flatter.
        temperature: f64,
    },
}

/// What is generated.
#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    /// How the next token is chosen.
    pub way: Way,
    /// Tokens at most.
    pub length: usize,
    /// Tokens that end the text.
    pub stop: Vec<u32>,
}

/// The tokens after a prompt, up to the first that ends the text, which is among them.
///
/// An empty prompt is an error, and so is one that leaves no room for the length asked for.
pub fn generate(
    decoder: &Decoder,
    prompt: &[u32],
    generation: &Generation,
) -> Result<Vec<u32>, PretrainedError> {
    let wrong = |why: &str| PretrainedError::Generation { why: why.into() };
    if prompt.is_empty() {
        return Err(wrong("the prompt is empty; give it at least one word"));
    }
    if prompt
        .iter()
        .any(|token| *token as usize >= decoder.vocabulary())
    {
        return Err(wrong(
            "the prompt holds tokens that the model has no row for",
        ));
    }
    decoder.check_length(prompt.len() + generation.length)?;
    if generation.length == 0 {
        return Ok(Vec::new());
    }
    // Nothing is learned from what is generated.
    let decoder = &decoder.valid();
    match generation.way {
        Way::Greedy => one_by_one(decoder, prompt, generation, |scores| Ok(likeliest(scores))),
        Way::TopP { share, temperature } => {
            if !(share > 0.0 && share <= 1.0) {
                return Err(wrong("the share of top-p must be above 0 and at most 1"));
            }
            if !(temperature > 0.0 && temperature.is_finite()) {
                return Err(wrong("the temperature must be above 0"));
            }
            one_by_one(decoder, prompt, generation, |scores| {
                Ok(chance::chosen(
                    scores,
                    share,
                    temperature,
                    chance::uniform()?,
                ))
            })
        }
        Way::Beams { count: 0, .. } => Err(wrong("at least one beam must be followed")),
        Way::Beams {
            count,
            length_penalty,
        } => Ok(beams::search(
            decoder,
            prompt,
            generation,
            count,
            length_penalty,
        )),
    }
}

fn one_by_one(
    decoder: &Decoder,
    prompt: &[u32],
    generation: &Generation,
    mut choose: impl FnMut(&[f32]) -> Result<u32, PretrainedError>,
) -> Result<Vec<u32>, PretrainedError> {
    let (mut steps, mut scores) = Steps::begin(decoder, prompt);
    let mut tokens = Vec::new();
    loop {
        let token = choose(&scores)?;
        tokens.push(token);
        if tokens.len() == generation.length || generation.stop.contains(&token) {
            return Ok(tokens);
        }
        scores = steps.next(&[0], &[token]);
    }
}

/// The token of the highest score, the first of several.
fn likeliest(scores: &[f32]) -> u32 {
    let mut best = 0;
    for (token, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = token;
        }
    }
    best as u32
}
