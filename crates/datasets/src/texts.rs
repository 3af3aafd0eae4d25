//! How texts are prepared, those of public sets and of the user: hashed words, or public word vectors.

use crate::Options;
use crate::locate::Site;
use crate::preparation::{
    Features, FirstWords, HashedWords, InputPreparation, NGrams, TextCounts, WordMeans,
};
use crate::word_vectors::WordVectors;
use anyhow::{Result, bail, ensure};
use std::sync::Arc;

/// The public word vectors.
pub const WORD_VECTORS: Site = Site {
    name: "glove-6b-100d-subset",
    folders: &["glove-6b-100d-subset", "glove"],
    forms: &[&["words.txt", "vectors.f16le"]],
    downloads: &[],
    home: "https://nlp.stanford.edu/projects/glove/ (words.txt holds a word a line, vectors.f16le \
           the vectors in half precision, little-endian)",
};

/// Words of a vocabulary when none is asked for.
const VOCABULARY: usize = 10_000;

/// The public word vectors, if the options ask for them.
pub fn vectors(options: &Options) -> Result<Option<Arc<WordVectors>>> {
    let means = options.features == Some(Features::WordMeans);
    if options.schema.text.word_vectors.is_none() && !means {
        return Ok(None);
    }
    let found = options
        .places()
        .find(&WORD_VECTORS, !options.offline, options.quiet)?;
    Ok(Some(Arc::new(WordVectors::read(&found.folder)?)))
}

/// The preparation the options ask for, texts being `length` words long unless they say otherwise.
pub fn preparation(
    options: &Options,
    vectors: Option<&WordVectors>,
    length: usize,
) -> Result<InputPreparation> {
    let text = &options.schema.text;
    if let Some(subwords) = &options.subwords {
        ensure!(
            options.features.is_none() && text.word_vectors.is_none(),
            "a pre-trained model reads its own tokens; leave features and word-vectors out"
        );
        return Ok(InputPreparation::Subwords(subwords.clone().checked()?));
    }
    ensure!(
        options.features.is_none() || text.word_vectors.is_none(),
        "features and word-vectors are two preparations of one text; leave one of them out"
    );
    Ok(match (text.word_vectors, vectors) {
        (_, Some(vectors)) if options.features == Some(Features::WordMeans) => {
            InputPreparation::WordMeans(WordMeans::new(vectors))
        }
        _ if options.features == Some(Features::NGrams) => {
            InputPreparation::NGrams(NGrams::default())
        }
        _ if options.features == Some(Features::Counts) => {
            InputPreparation::Counts(TextCounts::default())
        }
        _ if options.features == Some(Features::Scattering) => {
            bail!("--features scattering is for images, not texts")
        }
        (Some(count), Some(vectors)) => {
            InputPreparation::FirstWords(FirstWords::new(vectors, count)?)
        }
        _ => InputPreparation::Words(HashedWords::new(
            text.vocabulary.unwrap_or(VOCABULARY),
            text.length.unwrap_or(length),
        )?),
    })
}
