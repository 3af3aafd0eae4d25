//! What the encoders differ in: names of tensors, positions, and the head of `transformers`.

/// A family of encoders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// BERT (Devlin et al. 2019, arXiv:1810.04805), and MiniLM, which is a small one.
    Bert,
    /// RoBERTa (Liu et al. 2019, arXiv:1907.11692).
    Roberta,
    /// MPNet (Song et al. 2020, arXiv:2004.09297).
    Mpnet,
    /// DistilBERT (Sanh et al. 2019, arXiv:1910.01108).
    Distilbert,
}

/// The linear layers of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Query,
    Key,
    Value,
    Output,
    AttentionNorm,
    Inner,
    Outer,
    FeedForwardNorm,
}

impl Architecture {
    /// Every family, as `model_type` of a config calls it.
    pub const ALL: [Self; 4] = [Self::Bert, Self::Roberta, Self::Mpnet, Self::Distilbert];

    /// Their names, for messages.
    pub const NAMES: &str = "bert, roberta, mpnet and distilbert";

    /// Its name, as `model_type` of a config.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bert => "bert",
            Self::Roberta => "roberta",
            Self::Mpnet => "mpnet",
            Self::Distilbert => "distilbert",
        }
    }

    /// The class of `transformers` for classification.
    pub fn class_for_classification(self) -> &'static str {
        match self {
            Self::Bert => "BertForSequenceClassification",
            Self::Roberta => "RobertaForSequenceClassification",
            Self::Mpnet => "MPNetForSequenceClassification",
            Self::Distilbert => "DistilBertForSequenceClassification",
        }
    }

    /// The name of a part of a block.
    pub(super) fn part(self, block: usize, part: Part) -> String {
        let stack = match self {
            Self::Distilbert => "transformer",
            _ => "encoder",
        };
        let name = match (self, part) {
            (Self::Bert | Self::Roberta, Part::Query) => "attention.self.query",
            (Self::Bert | Self::Roberta, Part::Key) => "attention.self.key",
            (Self::Bert | Self::Roberta, Part::Value) => "attention.self.value",
            (Self::Bert | Self::Roberta, Part::Output) => "attention.output.dense",
            (Self::Bert | Self::Roberta, Part::AttentionNorm) => "attention.output.LayerNorm",
            (Self::Mpnet, Part::Query) => "attention.attn.q",
            (Self::Mpnet, Part::Key) => "attention.attn.k",
            (Self::Mpnet, Part::Value) => "attention.attn.v",
            (Self::Mpnet, Part::Output) => "attention.attn.o",
            (Self::Mpnet, Part::AttentionNorm) => "attention.LayerNorm",
            (Self::Distilbert, Part::Query) => "attention.q_lin",
            (Self::Distilbert, Part::Key) => "attention.k_lin",
            (Self::Distilbert, Part::Value) => "attention.v_lin",
            (Self::Distilbert, Part::Output) => "attention.out_lin",
            (Self::Distilbert, Part::AttentionNorm) => "sa_layer_norm",
            (Self::Distilbert, Part::Inner) => "ffn.lin1",
            (Self::Distilbert, Part::Outer) => "ffn.lin2",
            (Self::Distilbert, Part::FeedForwardNorm) => "output_layer_norm",
            (_, Part::Inner) => "intermediate.dense",
            (_, Part::Outer) => "output.dense",
            (_, Part::FeedForwardNorm) => "output.LayerNorm",
        };
        format!("{stack}.layer.{block}.{name}")
    }

    /// Whether positions are counted from one after that of padding, past which they begin.
    pub(super) fn positions_begin_after_padding(self) -> bool {
        matches!(self, Self::Roberta | Self::Mpnet)
    }

    /// Whether tokens have a type, which tells the second text of a pair.
    pub(super) fn has_types(self) -> bool {
        matches!(self, Self::Bert | Self::Roberta)
    }

    /// Names of the layers of the head for classification, first to last. The pooler of BERT is a part of the network.
    pub(super) fn head(self) -> &'static [&'static str] {
        match self {
            Self::Bert => &["classifier"],
            Self::Roberta | Self::Mpnet => &["classifier.dense", "classifier.out_proj"],
            Self::Distilbert => &["pre_classifier", "classifier"],
        }
    }
}
