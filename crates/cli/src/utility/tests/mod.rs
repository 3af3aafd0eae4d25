//! Figures against scikit-learn, all pairs and neighbouring data sets.
#![allow(clippy::unwrap_used)]

mod exact;
mod noisy;

/// The generator of `golden.py`.
fn uniform(mut seed: u64, count: usize) -> Vec<f64> {
    (0..count)
        .map(|_| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f64 / (1u64 << 24) as f64
        })
        .collect()
}

/// Answers of a model and the true classes.
struct Case {
    classes: Vec<String>,
    outputs: Vec<Vec<f32>>,
    labels: Vec<u16>,
}

/// The answers of `golden.py`.
fn case(classes: usize, count: usize) -> Case {
    let drawn = uniform(7 * classes as u64, count * (classes + 1));
    let mut case = Case {
        classes: (0..classes).map(|class| format!("class {class}")).collect(),
        outputs: Vec::new(),
        labels: Vec::new(),
    };
    for u in drawn.chunks(classes + 1) {
        let last = u[classes];
        let label = match classes {
            2 => usize::from(last < 0.1),
            _ => (3.0 * last * last) as usize,
        };
        let mut outputs: Vec<f64> = u[..classes].iter().map(|u| 4.0 * (u - 0.5)).collect();
        if classes == 2 {
            outputs
                .iter_mut()
                .for_each(|x| *x = (*x * 8.0).round_ties_even() / 8.0);
            outputs[1] -= 2.25;
        }
        outputs[label] += 1.0;
        case.outputs
            .push(outputs.iter().map(|x| *x as f32).collect());
        case.labels.push(label as u16);
    }
    case
}

impl Case {
    fn answers(&self) -> super::ClassAnswers<'_> {
        super::ClassAnswers {
            classes: &self.classes,
            outputs: &self.outputs,
            labels: &self.labels,
        }
    }
}
