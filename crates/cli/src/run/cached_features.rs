//! A head on a frozen encoder: features are computed once for each record and kept.
//!
//! The features of a record are a function of that record and of public weights, like any other preparation, so they
//! cost no privacy.

use crate::models::{Bench, Score, TextHead};
use crate::run::estimate::{Estimate, synthetic};
use crate::run::initial_weights::InitialWeights;
use crate::run::planned_run::PlannedRun;
use crate::run::run_folder::{RunFolder, StartedFrom};
use crate::run::workbench::{TrainedBench, Watch, Workbench};
use crate::utility::Divergence;
use anyhow::{Result, bail};
use burn::module::Module;
use burn::tensor::Device;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tacita::Opening;
use tacita::ranks::Ranks;
use tacita_datasets::{
    DataSet, RecordSet, RowLayout, Rows, Shape, Target, TestSet, chunks_of_one_size,
};
use tacita_pretrained::encoder::Classifier;

/// Records whose features are computed at a time.
const CHUNK: usize = 32;

/// A frozen encoder, and a head at work on its features.
pub struct CachedFeatures {
    /// The network; its head is the one that is trained only before training.
    network: Classifier,
    head: Box<dyn Workbench>,
    device: Device,
}

impl CachedFeatures {
    pub fn new(network: Classifier, device: &Device) -> Self {
        let head = TextHead {
            head: network.head.clone(),
            architecture: network.encoder.sizes.architecture,
        };
        Self {
            // Outside autodiff: nothing of a frozen network is differentiated.
            network: network.valid(),
            head: Box::new(Bench::<Rows, _>::of(head, device)),
            device: device.clone(),
        }
    }

    fn width(&self) -> usize {
        self.network.encoder.sizes.width
    }

    /// The features of records.
    fn features(&self, records: &RecordSet) -> Result<RecordSet> {
        let RecordSet::Tokens(tokens) = records else {
            bail!("the records are of another kind than the model");
        };
        let device = self.device.clone().without_autodiff();
        let mut cells: Vec<f32> = Vec::with_capacity(records.count() * self.width());
        for batch in chunks_of_one_size(tokens, CHUNK, &device) {
            let (batch, counted) = batch?;
            let features = self.network.features(batch.inputs).into_data();
            cells.extend(features.iter::<f32>().take(counted * self.width()));
        }
        let layout = RowLayout::Numbers(self.width());
        let classes = self.network.head.layers.last();
        let classes = classes.map_or(0, |last| last.weight.lazy_shape().dims::<2>()[1]);
        Ok(RecordSet::Rows(Rows::new(
            layout,
            classes,
            cells,
            records.targets()?.into_owned(),
        )?))
    }
}

impl Workbench for CachedFeatures {
    fn parameters(&self) -> usize {
        self.network.num_params()
    }

    fn start_from(&mut self, _: &InitialWeights) -> Result<StartedFrom> {
        bail!("--start and --pretrained both say which weights to begin with; give one of them")
    }

    fn load(&mut self, file: &Path) -> Result<()> {
        self.head.load(file)
    }

    fn save(&self, folder: &RunFolder) -> Result<()> {
        self.head.save(folder)
    }

    fn train(
        self: Box<Self>,
        run: &PlannedRun,
        data: &DataSet,
        folder: &RunFolder,
        ranks: &Arc<dyn Ranks>,
        opening: Option<Opening>,
        watch: &mut Watch<'_>,
    ) -> Result<TrainedBench> {
        let test = data.test.as_ref().map(|test| {
            Ok::<_, anyhow::Error>(TestSet {
                records: self.features(&test.records)?,
                declared_public: test.declared_public,
            })
        });
        let data = DataSet {
            training: self.features(&data.training)?,
            test: test.transpose()?,
            ..data.clone()
        };
        let Self {
            network,
            head,
            device,
        } = *self;
        let trained = head.train(run, &data, folder, ranks, opening, watch)?;
        Ok(TrainedBench {
            bench: Box::new(Self {
                network,
                head: trained.bench,
                device,
            }),
            ..trained
        })
    }

    fn score(&self) -> Score {
        self.head.score()
    }

    fn scores(&self, records: &RecordSet) -> Result<Vec<f64>> {
        self.head.scores(&self.features(records)?)
    }

    fn divergence(&self) -> Option<Divergence> {
        self.head.divergence()
    }

    fn outputs(&self, records: &RecordSet) -> Result<Option<Vec<Vec<f32>>>> {
        self.head.outputs(&self.features(records)?)
    }

    fn outputs_in_passes_of(
        &self,
        size: usize,
        records: &RecordSet,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        self.head
            .outputs_in_passes_of(size, &self.features(records)?)
    }

    fn answers(&self, inputs: &RecordSet, target: &Target) -> Result<Vec<Vec<f64>>> {
        self.head.answers(&self.features(inputs)?, target)
    }

    fn estimate(self: Box<Self>, run: &PlannedRun) -> Result<Estimate> {
        let some = synthetic(run, CHUNK)?;
        let start = Instant::now();
        self.features(&some)?;
        let each = start.elapsed().as_secs_f64() / CHUNK as f64;
        let (width, frozen) = (self.width(), self.parameters());
        let mut on_features = run.clone();
        on_features.model.shape = Shape::Rows { width };
        let estimate = self.head.estimate(&on_features)?;
        Ok(Estimate {
            parameters: frozen,
            seconds_before: each * run.facts.records as f64,
            ..estimate
        })
    }
}
