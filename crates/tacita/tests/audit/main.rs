//! The canary audit: noise, shift and sampling of every policy, measured on what a session releases.
//!
//! Every record owns coordinates of the model, in which no other has a gradient. So one run of a session gives
//! a sample of "noisy sum with the record" for each of its records and steps, and one of "without" for each
//! canary that owns coordinates but is not in the data set: 20,000 of each for every policy. Plain autodiff
//! and a few lines of f64 (`oracle`) tell what each canary contributes. From the released values alone follow:
//!
//! - the standard deviation of the noise, over that of the plan: noise multiplier × sensitivity; and whether
//!   the noise of one coordinate, parameter, step or query is correlated with that of the next;
//! - the shift that a record causes along its clipped gradient, over the planned one. Nearly all canaries are
//!   longer than their threshold, so what they contribute is as long as the sensitivity allows;
//! - the ratio of the two, which is the μ of the best test of "in or out" in one step (Dong, Roth & Su 2019,
//!   arXiv:1905.02383): it must not exceed the ledger's 1 / noise multiplier;
//! - with little noise, who takes part: rate, independence of records and steps, empty draws.
//!
//! | file | what is audited |
//! |---|---|
//! | `policies` | rules × thresholds × groupings, with every noise schedule, both hardenings, micro-batches and ways to the norm, on four layers with rectifiers, every other run with dropout |
//! | `layers` | convolutions, LSTM, an embedding used twice |
//! | `sampling` | Poisson sampling at rates from 0.02 to 1 |
//! | `side` | quantile counts, statistics, scores; the directions of OSO are in `policies` and `layers` |
//! | `order` | that a round is in the ledger before its noise is drawn |
//! | `white_box` | how much of the proved ε an attack on the released sums finds, by the statistics of `tacita-audit` |
//!
//! Seeds are fixed. There are 486 comparisons; `marks` allows a thousand, with a false alarm of the whole
//! audit in at most one of a million seeds.
//!
//! # What it sees
//! The mark is 6.55 standard errors, so an error of 13.1 of them passes with a probability below 1e-9. One
//! standard error is at most 0.08 % of the noise of a gradient or of directions, 0.26 % of a gradient's shift,
//! 0.36 % of a direction's, 0.5 % of the noise of counts, statistics and scores, and of the rate 1.1 % at 0.02,
//! 0.5 % at 0.1, 0.16 % at 0.5 and 0.1 % at 0.7. Hence it fails for sure, in each single policy, if noise is
//! wrong by 1.1 % or a gradient's shift by 3.4 %, and if rates are wrong by 1.4 %.
//!
//! The engine was broken on purpose, one change at a time. These changes made the audit fail:
//!
//! | part | change |
//! |---|---|
//! | noise | × 0.97, × 0.99 and × 0.995; made for the largest threshold of the groups rather than their 2-norm; with the sum of four divided by 2.05; none where a draw is empty |
//! | noise used twice | that of another step, another query, another parameter |
//! | schedule | noise multiplier of the next step; threshold of the next step |
//! | clipping | thresholds × 1.02, × 1.01 and × 1.005; not applied to one layer; C for every group rather than its share |
//! | norms | of the first or the last layer of a group rather than of all |
//! | directions | unscaled; without the groups' shares; noise × 0.97 |
//! | counts | noise for one group rather than for all; noise × 0.95; not centred |
//! | statistics, scores | vectors longer than 1 not scaled; noise × 0.95 |
//! | sampling | rate × 1.05, × 1.02 and × 1.01; the same draw in two steps; some records drawn along with their neighbours, which raises the rate, too |
//! | batches | only the last micro-batch counted; dropout masks by position in the batch |
//!
//! # What it does not see
//! AUTO-S without its stability constant passed: against gradients as long as these it makes no difference.
//! Contributions above the threshold by a part in a thousand pass; `engine` bounds them exactly, by removing a
//! record. Nor is the accountant audited here: that the ledger's multipliers and rates give the reported ε.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod canaries;
mod layers;
mod marks;
mod networks;
mod oracle;
mod order;
mod policies;
mod run;
mod sampling;
mod side;
mod tally;
mod white_box;
